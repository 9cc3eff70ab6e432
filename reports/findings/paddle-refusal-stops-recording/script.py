import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
v = paddle.to_tensor(3.0, stop_gradient=False)
y = paddle.masked_fill(x, paddle.to_tensor([True, False]), v)
(g,) = paddle.grad((y * y).sum(), v, create_graph=True)
try:
    g.backward()
except ValueError:
    pass
assert paddle.is_grad_enabled(), "gradients are switched off after backward() raised"
