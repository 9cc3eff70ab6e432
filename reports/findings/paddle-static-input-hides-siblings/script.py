import paddle

paddle.enable_static()
x = paddle.static.data("x", [2], "float32")
x.stop_gradient = False
a, b = paddle.split(x, 2)
y = a + 3 * b
(alone,) = paddle.static.gradients(y, x)
g, _ = paddle.static.gradients(y, [x, a])

alone, g = paddle.static.Executor().run(feed={"x": [1.0, 2.0]}, fetch_list=[alone, g])
assert alone.tolist() == [1.0, 3.0]
assert g.tolist() == [1.0, 3.0], f"the gradient of a + 3 b in x is {g.tolist()} when that in a is asked for, too, and [1.0, 3.0] is right"
