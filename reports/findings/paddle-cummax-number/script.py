import paddle

x = paddle.to_tensor(0.5, stop_gradient=False)
largest, index = paddle.cummax(x, 0)
assert (largest.item(), index.item()) == (0.5, 0)
try:
    (g,) = paddle.grad(largest, x)
except IndexError as error:
    raise AssertionError(f"cummax takes a 0-D tensor, and its gradient is refused: {error}") from None
assert g.item() == 1.0
