import paddle

x = paddle.to_tensor(3.0)
try:
    y = x.view([1])
except ValueError as error:
    raise AssertionError(f"view([1]) raises {type(error).__name__}: {str(error).splitlines()[0]}") from None
assert y.tolist() == [3.0]
