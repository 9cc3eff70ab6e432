import paddle

x = paddle.zeros([1, 2, 1, 1, 1, 1, 1])  # seven dimensions
index = (paddle.to_tensor([0]), paddle.to_tensor([1]))
try:
    y = paddle.index_put(x, index, paddle.to_tensor([5.0]))
except ValueError as error:
    raise AssertionError(f"raises {type(error).__name__}: {str(error).strip().splitlines()[0]}") from None
assert y.flatten().tolist() == [0.0, 5.0]
