import paddle

paddle.enable_static()
x = paddle.static.data("x", [1, 1, 2, 2], "float32")
w = paddle.static.data("w", [1, 1, 2, 2], "float32")
w.stop_gradient = False

y = paddle.nn.functional.conv2d(x, w)
(g,) = paddle.static.gradients(y, w)
(h,) = paddle.static.gradients(g, w)

if h is not None:  # None would be right: y is linear in w
    feed = {"x": [[[[1.0, 2.0], [3.0, 4.0]]]], "w": [[[[1.0, 0.0], [2.0, 1.0]]]]}
    (value,) = paddle.static.Executor().run(feed=feed, fetch_list=[h])
    assert value is not None, "gradients() returned a variable, and the executor has no value for it"
    assert not value.any()
