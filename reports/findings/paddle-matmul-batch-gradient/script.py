import paddle

x = paddle.ones([2, 1, 3, 4])
y = paddle.ones([5, 4, 6])
y.stop_gradient = False
z = paddle.matmul(x, y)
assert z.shape == [2, 5, 3, 6]

try:
    z.sum().backward()
except ValueError as error:
    raise AssertionError(f"raises {type(error).__name__}: {str(error).splitlines()[0]}") from None
assert y.grad.tolist() == paddle.full([5, 4, 6], 6.0).tolist()
