import paddle

paddle.enable_static()
x = paddle.static.data("x", [2], "float32")
x.stop_gradient = False
a, b = paddle.split(x, 2)
(alone,) = paddle.static.gradients(2 * a, a)
(g,) = paddle.static.gradients([2 * a, b], a)
assert g is not None, "the gradient of 2 a and b in a is None, and [2.0] is right"

alone, g = paddle.static.Executor().run(feed={"x": [1.0, 2.0]}, fetch_list=[alone, g])
assert alone.tolist() == g.tolist() == [2.0]
