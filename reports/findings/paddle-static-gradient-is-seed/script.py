import paddle

paddle.enable_static()
x = paddle.static.data("x", [2], "float32")
s = paddle.static.data("s", [2], "float32")
x.stop_gradient = s.stop_gradient = False
v = x * s
(g,) = paddle.static.gradients(x, x, v)
(h,) = paddle.static.gradients(v, x, no_grad_set={g})
assert h is not None, "the gradient of x * s is None where a gradient is ignored of which it was not computed"
