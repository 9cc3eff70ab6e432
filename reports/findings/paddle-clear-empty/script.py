import paddle

x = paddle.zeros([0, 2])
x.stop_gradient = False
(x * 2).sum().backward()
x.clear_gradient(False)
assert x.grad is None, f"x.grad is a tensor of shape {list(x.grad.shape)}, and None is right"
