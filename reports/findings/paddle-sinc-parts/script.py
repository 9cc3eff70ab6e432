import paddle

y = paddle.sinc(paddle.to_tensor([float("inf"), float("nan"), 0.25]))
assert y[0].item() != 1.0, f"sinc of infinity and NaN is {y[:2].tolist()}; sin(pi x) / (pi x) tends to 0, and 1 is its value at 0"
