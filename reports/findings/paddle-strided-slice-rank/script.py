import paddle

x = paddle.ones([4, 1, 1, 1, 1, 1, 1])  # seven dimensions
try:
    y = x[::2]
except ValueError as error:
    raise AssertionError(f"x[::2] raises {type(error).__name__}: {str(error).splitlines()[0]}") from None
assert list(y.shape) == [2, 1, 1, 1, 1, 1, 1]
