import paddle

paddle.enable_static()
x = paddle.static.data("x", [2], "float32")
x.stop_gradient = False
y = x * x

assert paddle.static.gradients(y * 2, y, no_grad_set={y}) == [None]
(g,) = paddle.static.gradients(y, y, no_grad_set={y})
assert g is None, "y is in no_grad_set and has a gradient, because it is the target"
