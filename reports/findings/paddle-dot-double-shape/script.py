import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
y = paddle.to_tensor([3.0, 4.0], stop_gradient=False)
s = paddle.to_tensor(1.0, stop_gradient=False)
(g,) = paddle.grad(x @ y, x, s, create_graph=True)
(h,) = paddle.grad(g.sum(), s)
assert list(h.shape) == [], f"the gradient of a 0-D tensor has shape {list(h.shape)}, and [] is right"
