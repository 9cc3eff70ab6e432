import paddle

x = paddle.to_tensor([[[1.0, 3.0]]])
weight = paddle.to_tensor([2.0], stop_gradient=False)
bias = paddle.to_tensor([0.5], stop_gradient=False)
y = paddle.nn.functional.instance_norm(x, weight=weight, bias=bias)
try:
    y.sum().backward()
except ValueError as error:
    raise AssertionError(f"weight and bias have no gradients where the input needs none: {error}") from None
assert bias.grad.tolist() == [2.0]
