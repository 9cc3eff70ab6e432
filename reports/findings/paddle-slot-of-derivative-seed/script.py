import paddle

x = paddle.to_tensor(2.0, stop_gradient=False)
y = 3.0 / x
(g,) = paddle.grad(y, x, create_graph=True)
(h,) = paddle.grad(y, x, grad_outputs=g, create_graph=True)
assert h.item() == 0.5625  # (dy/dx)^2 = 9 / x^4
(d,) = paddle.grad(h, x)
assert d.item() == -1.125, f"the derivative of 9 / x^4 at 2 is {d.item()}, and -36 / x^5 = -1.125 is right"
