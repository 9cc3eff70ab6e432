import paddle

x = paddle.zeros([1, 1, 1, 1, 2])

try:
    y = paddle.logsumexp(x, axis=-1)
except ValueError as error:
    raise AssertionError(f"raises {type(error).__name__}: {str(error).splitlines()[0]}") from None
assert abs(y.item() - 0.693147) < 1e-5  # log(2)
