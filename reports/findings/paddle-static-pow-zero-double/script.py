import paddle

paddle.enable_static()
x = paddle.static.data("x", [2], "float32")
x.stop_gradient = False
(g,) = paddle.static.gradients(paddle.pow(x, 0.0), x)
(h,) = paddle.static.gradients(g, x)

if h is not None:  # None would be right: the gradient is zero everywhere
    (value,) = paddle.static.Executor().run(feed={"x": [0.0, 1.0]}, fetch_list=[h])
    assert value.tolist() == [0.0, 0.0], f"the second derivative of x^0 at [0, 1] is {value.tolist()}, and [0, 0] is right"
