import paddle

paddle.enable_static()
x = paddle.static.data("x", [2], "float32")
x.stop_gradient = False
v = x * 1.0
w = v * 2.0

(g,) = paddle.static.gradients([w, v], [x], [v * 1.0, v * 1.0], no_grad_set={x})
assert g is None  # x is held constant
try:
    (g,) = paddle.static.gradients([w, v], [x], [v, v], no_grad_set={x})
except ValueError as error:
    raise AssertionError(f"raises {type(error).__name__}: {error}") from None
assert g is None
