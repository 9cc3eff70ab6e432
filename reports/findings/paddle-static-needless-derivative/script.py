import paddle

paddle.enable_static()
x = paddle.static.data("x", [2], "float32")
x.stop_gradient = False
w = paddle.static.data("w", [2], "float32")
w.stop_gradient = False

(g,) = paddle.static.gradients(paddle.maximum(x, w), w)
try:
    (h,) = paddle.static.gradients(-g, g)
except ValueError as error:
    raise AssertionError(f"raises {type(error).__name__}: {str(error).splitlines()[0]}") from None
(value,) = paddle.static.Executor().run(feed={"x": [1.0, 4.0], "w": [3.0, 2.0]}, fetch_list=[h])
assert value.tolist() == [-1.0, -1.0]
