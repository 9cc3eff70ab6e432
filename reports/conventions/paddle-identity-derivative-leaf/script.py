import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
(g,) = paddle.grad(x, [x], create_graph=True)

g.backward()
assert g.stop_gradient or g.grad is not None, "g is a leaf with stop_gradient=False, and g.grad is None after g.backward()"
