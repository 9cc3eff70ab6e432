import paddle

paddle.enable_static()
x, y, ones = (paddle.static.data(name, [2], "float32") for name in ("x", "y", "ones"))
x.stop_gradient = y.stop_gradient = False
power = paddle.pow(x, y)
(slope,) = paddle.static.gradients(power, y, ones)
(found,) = paddle.static.gradients(slope, power, ones)
assert found is not None, "the derivative of the gradient in the result is None: the gradient is not made of it"
