import paddle

x = paddle.zeros([3, 0])
assert list(x.reshape([0]).shape) == [0]
try:
    y = x.view([0])
except RuntimeError as error:
    raise AssertionError(f"view([0]) raises {type(error).__name__}: {str(error).splitlines()[0]}") from None
assert list(y.shape) == [0]
