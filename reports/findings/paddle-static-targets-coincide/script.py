import paddle

paddle.enable_static()
x = paddle.static.data("x", [1], "float32")
x.stop_gradient = False
y = x * x
try:
    (g,) = paddle.static.gradients([y, y], x)
except ValueError:
    pass  # refused, as paddle.autograd.backward does
else:
    (value,) = paddle.static.Executor().run(feed={"x": [3.0]}, fetch_list=[g])
    assert value.tolist() == [12.0], f"the gradient of x^2 + x^2 at 3 is {value.tolist()}, and [12.0] is right"
