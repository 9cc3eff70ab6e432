import paddle

x = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
v = paddle.to_tensor([1.0, 1.0], dtype="float64", stop_gradient=False)
y = x * x
(g,) = paddle.grad(y, [y], grad_outputs=v, create_graph=True)
assert g.tolist() == [1.0, 1.0]
(h,) = paddle.grad(g.sum(), [v], allow_unused=True)
assert h is not None, "g is v, but its derivative with respect to v is None"
assert h.tolist() == [1.0, 1.0]
