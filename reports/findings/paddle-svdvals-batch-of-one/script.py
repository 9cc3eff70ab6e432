import paddle

x = paddle.to_tensor([[[2.0, 1.0], [0.0, 1.0]]], stop_gradient=False)
total = paddle.linalg.svdvals(x).sum()
try:
    (g,) = paddle.grad(total, x)
except ValueError as error:
    raise AssertionError(f"the gradient of svdvals of one matrix of shape [1, 2, 2] is refused: {error}") from None
assert g.shape == [1, 2, 2]
