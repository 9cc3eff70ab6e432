import paddle

x = paddle.to_tensor([3.4028234663852886e38, 1e-45], stop_gradient=False)
mantissa, exponent = paddle.frexp(x)
assert mantissa[0].item() != 0.0, f"the largest number is {mantissa[0].item()} * 2 ** {exponent[0].item():.0f}, and 0.99999994 is right"
