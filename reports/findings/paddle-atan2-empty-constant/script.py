import paddle

x = paddle.zeros([0, 3])
x.stop_gradient = False
try:
    paddle.atan2(x, paddle.ones([0, 3])).sum().backward()
except ValueError as error:
    raise AssertionError(f"raises {type(error).__name__}: {str(error).strip().splitlines()[0]}") from None
assert x.grad.shape == [0, 3]
