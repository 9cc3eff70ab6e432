import paddle

x = paddle.to_tensor(3.0, stop_gradient=False)
v = paddle.to_tensor(2.0, stop_gradient=False)
(g,) = paddle.grad(x, x, v, create_graph=True)
(h,) = paddle.grad(g, v, no_grad_vars=[v], allow_unused=True)
assert h is None, f"v is in no_grad_vars, and the gradient of g in v is {h.item()}"
