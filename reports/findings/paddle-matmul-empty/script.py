import paddle

layer = paddle.nn.Linear(3, 2)
y = layer(paddle.ones([0, 3]))
assert y.shape == [0, 2]

try:
    y.sum().backward()
except ValueError as error:
    raise AssertionError(f"raises {type(error).__name__}: {str(error).splitlines()[0]}") from None
assert layer.weight.grad.tolist() == [[0.0, 0.0]] * 3
