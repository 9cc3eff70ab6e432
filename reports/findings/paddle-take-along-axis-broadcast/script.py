import paddle

x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
try:
    taken = paddle.take_along_axis(x, paddle.to_tensor([[0, 0, 1]]), 1).tolist()
except ValueError as error:
    said = next(line for line in str(error).splitlines() if "non-singleton" in line)
    raise AssertionError(f"one row of an index for two of a matrix raises {said}") from None
assert taken == [[1.0, 1.0, 2.0], [3.0, 3.0, 4.0]]
