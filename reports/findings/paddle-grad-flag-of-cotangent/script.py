import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
(x * x).sum().backward()
assert x.grad.stop_gradient is False
x.clear_grad()

x.register_hook(lambda g: paddle.clip(g.detach(), -1.0, 1.0))
(x * x).sum().backward()
assert x.grad.stop_gradient is False, "with a hook that returns a detached tensor x.grad.stop_gradient is True"
