import paddle

paddle.enable_static()
x = paddle.static.data("x", [2], "float32")
x.stop_gradient = False
y = -x

(g,) = paddle.static.gradients(y, x)
(h,) = paddle.static.gradients(y, x, paddle.ones([2]))
assert g.stop_gradient == h.stop_gradient, (
    f"stop_gradient is {g.stop_gradient} without target_gradients and {h.stop_gradient} with ones"
)
