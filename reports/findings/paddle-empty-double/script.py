import paddle

x = paddle.zeros([0, 1])
y = paddle.zeros([0, 1, 2])
x.stop_gradient = y.stop_gradient = False
(g,) = paddle.grad((y * x).sum(), x, create_graph=True)
(h,) = paddle.grad(g.sum(), y, allow_unused=True)
shape = None if h is None else list(h.shape)
assert shape == [0, 1, 2], f"the gradient of a tensor of shape [0, 1, 2] has shape {shape}"
