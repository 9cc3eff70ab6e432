import paddle

a = paddle.ones([3], dtype="float32")
b = paddle.ones([1, 1, 1, 1, 2, 3], dtype="float32")  # six dimensions
a.stop_gradient = b.stop_gradient = False
first, second = paddle.broadcast_tensors([a, b])
try:
    (first * second).sum().backward()
except ValueError as error:
    said = str(error).strip().splitlines()[0]
    raise AssertionError(f"broadcast_tensors takes six dimensions, its backward raises: {said}") from None
assert a.grad.tolist() == [2.0, 2.0, 2.0]
