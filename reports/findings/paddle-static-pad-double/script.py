import paddle

paddle.enable_static()
x = paddle.static.data("x", [1], "float32")
x.stop_gradient = False
y = paddle.square(paddle.sum(paddle.nn.functional.pad(x, [1, 1], value=1.5)))  # (x + 3)^2
(g,) = paddle.static.gradients(y, x)
(h,) = paddle.static.gradients(g, x)

g, h = paddle.static.Executor().run(feed={"x": [1.0]}, fetch_list=[g, h])
assert g.tolist() == [8.0]
assert h.tolist() == [2.0], f"the second derivative of (x + 3)^2 is {h.tolist()}, and [2.0] is right"
