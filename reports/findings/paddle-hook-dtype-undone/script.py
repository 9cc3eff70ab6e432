import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
h = x * 2
h.register_hook(lambda g: g.cast("float64"))  # refused, if it is the only one
h.register_hook(lambda g: g.cast("float32"))
try:
    h.sum().backward()
except RuntimeError as error:
    assert "not consistent" in str(error)
else:
    raise AssertionError("a hook that returns float64 for a float32 tensor is accepted, since a second one casts back")
