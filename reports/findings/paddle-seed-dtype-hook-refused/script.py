import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
v = paddle.to_tensor([3.0, 4.0], dtype="float64")
x.register_hook(lambda g: paddle.ones_like(x))  # of the dtype of x
try:
    paddle.autograd.backward([x], [v])
except RuntimeError as error:
    said = str(error).strip().splitlines()[0]
    raise AssertionError(f"a float32 gradient of a float32 tensor is refused: {said}") from None
assert x.grad.tolist() == [1.0, 1.0]
