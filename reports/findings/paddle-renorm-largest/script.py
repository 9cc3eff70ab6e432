import paddle

x = paddle.to_tensor([[3.0, -4.0], [0.25, 0.5]], stop_gradient=False)
y = paddle.renorm(x, float("inf"), 0, 2.0)
assert y.tolist() == [[1.5, -2.0], [0.25, 0.5]], f"of rows whose largest sizes are to be 2 at most, {y.tolist()} is left"
(g,) = paddle.grad(y.sum(), x)
assert not g.isnan().any(), f"its gradient is {g.tolist()}"
