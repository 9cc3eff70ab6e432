import paddle

paddle.enable_static()
x = paddle.static.data("x", [3], "float32")
x.stop_gradient = False
v = paddle.static.data("v", [], "float32")
v.stop_gradient = False
y = paddle.masked_fill(x, x > 0, v)
(g,) = paddle.static.gradients(y, v)

(value,) = paddle.static.Executor().run(feed={"x": [0.0, 2.0, 1.0], "v": 1.0}, fetch_list=[g])
assert value.tolist() == 2.0, f"the gradient of the value that fills two elements is {value.tolist()}, and 2 is right"
