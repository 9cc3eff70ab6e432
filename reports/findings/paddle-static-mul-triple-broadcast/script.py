import paddle

paddle.enable_static()
a = paddle.static.data("a", [1], "float32")
b = paddle.static.data("b", [2], "float32")
s = paddle.static.data("s", [2], "float32")
a.stop_gradient = b.stop_gradient = s.stop_gradient = False

ga, gb = paddle.static.gradients(a * b, [a, b], s)
(h,) = paddle.static.gradients([ga, gb], [s])
(k,) = paddle.static.gradients(h, [a])

feed = {"a": [3.0], "b": [1.0, 2.0], "s": [1.0, 1.0]}
h, k = paddle.static.Executor().run(feed=feed, fetch_list=[h, k])
assert h.tolist() == [4.0, 5.0]  # a + b
assert k.item() == 2.0, f"the derivative of (a + b_0) + (a + b_1) in a is {k.item()}, and 2 is right"
