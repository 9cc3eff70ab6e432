import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
c = paddle.to_tensor([3.0, 4.0])
y = (x * 3).sum()

_, g = paddle.grad(y, [x, c], allow_unused=True, retain_graph=True)
assert g is None
try:
    _, g = paddle.grad(y, [x, c * 2], allow_unused=True)
except SystemError as error:
    raise AssertionError(f"raises SystemError: {str(error).strip().splitlines()[0]}") from None
assert g is None, f"the gradient is {g}, and None is right"
