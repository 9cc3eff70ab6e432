import paddle

x = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
try:
    paddle.autograd.backward([x * 2], [paddle.ones([2])])
    accepted = True
except (AssertionError, ValueError, RuntimeError):
    accepted = False
assert not accepted, f"is accepted: x has shape {list(x.shape)}, and x.grad has {list(x.grad.shape)}"
