import paddle

paddle.enable_static()
x = paddle.static.data("x", [1], "float32")
x.stop_gradient = False
c = paddle.static.data("c", [1], "float32")

(g,) = paddle.static.gradients(paddle.square(c * x), x)  # 2 c^2 x
(h,) = paddle.static.gradients(g, x)  # 2 c^2

g, h = paddle.static.Executor().run(feed={"x": [1.0], "c": [3.0]}, fetch_list=[g, h])
assert g.tolist() == [18.0]
assert h.tolist() == [18.0], f"the second derivative of (3 x)^2 is {h.tolist()}, and [18.0] is right"
