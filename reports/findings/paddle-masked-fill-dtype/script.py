import paddle

x = paddle.to_tensor([1.0, 2.0], dtype="float64")
mask = paddle.to_tensor([True, False])
value = paddle.to_tensor(3.0, dtype="float32")
assert paddle.masked_fill(x, mask, 3.0).tolist() == [3.0, 2.0]

try:
    y = paddle.masked_fill(x, mask, value)
except ValueError as error:
    raise AssertionError(f"raises {type(error).__name__}: {str(error).strip().splitlines()[0]}") from None
assert y.dtype == x.dtype
assert y.tolist() == [3.0, 2.0]
