import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
h = x * x
h.register_hook(lambda g: g.cast("float64"))
h.retain_grads()

try:
    h.sum().backward()
except RuntimeError as error:
    assert "not consistent" in str(error)
assert h.grad is None or h.grad.dtype == h.dtype, f"the .grad of a float32 tensor is {h.grad.dtype} after the error"
