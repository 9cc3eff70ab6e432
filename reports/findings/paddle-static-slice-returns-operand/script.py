import paddle

paddle.enable_static()
x = paddle.static.data("x", [2], "float32")
x.stop_gradient = False
y = x[0:2]
(g,) = paddle.static.gradients(y * x, y)

(value,) = paddle.static.Executor().run(feed={"x": [1.0, 2.0]}, fetch_list=[g])
assert value.tolist() == [1.0, 2.0], f"the gradient of y * x with respect to y is {value.tolist()}, and x = [1, 2] is right"
