import paddle

x = paddle.to_tensor(2 + 1j, stop_gradient=False)
y = paddle.sgn(x)
(g,) = paddle.grad(y, x, create_graph=True)
(h,) = paddle.grad(g, y, allow_unused=True)
assert h is not None, "the gradient of sgn does not depend on the result of sgn"
