import paddle

paddle.enable_static()
x = paddle.static.data("x", [2], "float32")
x.stop_gradient = False
with paddle.no_grad():
    y = -x
    z = paddle.clone(x)
assert y.stop_gradient
assert z.stop_gradient, "the result of clone inside no_grad has stop_gradient=False"
