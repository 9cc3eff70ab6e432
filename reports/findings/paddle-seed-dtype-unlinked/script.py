import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
v = paddle.to_tensor([[1.0], [1.0]], dtype="float64", stop_gradient=False)
(g,) = paddle.grad(x.reshape([2, 1]), x, grad_outputs=v, create_graph=True)  # v in the shape of x
assert not g.stop_gradient
(h,) = paddle.grad(g, v, allow_unused=True)
assert h is not None, "the derivative with respect to grad_outputs is None, and [[1], [1]] is right"
assert h.tolist() == [[1.0], [1.0]]
