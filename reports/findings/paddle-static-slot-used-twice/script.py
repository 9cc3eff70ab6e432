import paddle

paddle.enable_static()
x = paddle.static.data("x", [2], "float32")
x.stop_gradient = False
a, b = paddle.split(x, 2)
y = a * a
(g,) = paddle.static.gradients(y, a)
(h,) = paddle.static.gradients(y, x)

g, h = paddle.static.Executor().run(feed={"x": [3.0, 4.0]}, fetch_list=[g, h])
assert h.tolist() == [6.0, 0.0]
assert g.tolist() == [6.0], f"the gradient of a * a at a = 3 is {g.tolist()}, and [6.0] is right"
