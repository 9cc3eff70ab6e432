import paddle

x = paddle.to_tensor([2.0], stop_gradient=False)
y = x**3
with paddle.no_grad():
    (g,) = paddle.grad(y, x, create_graph=True)
if not g.stop_gradient:
    (h,) = paddle.grad(g, x, allow_unused=True)
    assert h is not None, "g has stop_gradient=False, and its gradient with respect to x is None"
