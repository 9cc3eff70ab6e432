import paddle

x = paddle.zeros([2, 0])
x.stop_gradient = False
a, b = paddle.unbind(x)
(g,) = paddle.grad(a, x, grad_outputs=paddle.zeros([0]))
assert list(g.shape) == [2, 0], f"the gradient of a tensor of shape [2, 0] has shape {list(g.shape)}"
