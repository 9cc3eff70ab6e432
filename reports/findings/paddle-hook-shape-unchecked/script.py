import paddle

x = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
h = x * x
h.register_hook(lambda g: g.sum())

try:
    h.sum().backward()
except (RuntimeError, ValueError):
    accepted = False
else:
    accepted = True
assert not accepted, f"a gradient of shape [] is accepted for one of shape [3], and x.grad is {x.grad.tolist()}"
