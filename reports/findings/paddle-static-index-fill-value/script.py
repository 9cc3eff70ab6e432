import paddle

paddle.enable_static()
x = paddle.static.data("x", [2, 3], "float32")
value = paddle.static.data("value", [], "float32")
x.stop_gradient = value.stop_gradient = False
index = paddle.static.data("index", [1], "int64")
y = paddle.index_fill(x, index, 0, value)
(gradient,) = paddle.static.gradients(y, value)

assert gradient is not None, "the gradient of the value that fills three elements is None, and 3 is right"
