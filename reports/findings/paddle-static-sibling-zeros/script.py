import paddle

paddle.enable_static()
x = paddle.static.data("x", [2], "float32")
w = paddle.static.data("w", [2], "float32")
x.stop_gradient = w.stop_gradient = False
g, h = paddle.static.gradients(x * w, [x, w])  # w and x
assert paddle.static.gradients(h * 2, g) == [None]  # x does not depend on w
(k,) = paddle.static.gradients(h, g)
assert k is None, f"the gradient of h in g is made by {k.get_defining_op().name()}, and that of 2 h in g is None"
