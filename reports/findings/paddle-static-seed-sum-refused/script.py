import paddle

paddle.enable_static()
x = paddle.static.data("x", [2], "float32")
x.stop_gradient = False
v = paddle.sin(x)
w = v * 2.0

try:
    (g,) = paddle.static.gradients([w, v], [v], [x, x])
except ValueError as error:
    raise AssertionError(f"raises {type(error).__name__}: {error}") from None
(value,) = paddle.static.Executor().run(feed={"x": [1.0, 2.0]}, fetch_list=[g])
assert value.tolist() == [3.0, 6.0]
