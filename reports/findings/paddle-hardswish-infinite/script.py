import paddle

x = paddle.to_tensor([-3.4e38, 3.4e38, float("inf")], stop_gradient=False)
paddle.nn.functional.hardswish(x).sum().backward()
assert x.grad.tolist() == [0.0, 1.0, 1.0], f"the gradient of hardswish is {x.grad.tolist()}, and [0, 1, 1] is right"
