import paddle

paddle.enable_static()
x = paddle.static.data("x", [1], "float32")
y = paddle.static.data("y", [1, 2], "float32")
x.stop_gradient = False

(g,) = paddle.static.gradients(paddle.square(x - y), x)  # 2 (x - y_0) + 2 (x - y_1)
(h,) = paddle.static.gradients(g, x)  # 2 + 2

g, h = paddle.static.Executor().run(feed={"x": [3.0], "y": [[1.0, 0.0]]}, fetch_list=[g, h])
assert g.tolist() == [10.0]
assert h.tolist() == [4.0], f"the second derivative is {h.tolist()}, and [4.0] is right"
