import paddle

x = paddle.ones([0])
x.stop_gradient = False
h = x * x
h.register_hook(lambda g: g.cast("float64"))
h.retain_grads()

try:
    h.backward()
except RuntimeError as error:
    assert "not consistent" in str(error)
else:
    raise AssertionError(f"the hook is accepted, and the .grad of a {h.dtype} tensor is {h.grad.dtype}")
