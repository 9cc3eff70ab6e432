import os

os.environ["FLAGS_enable_pir_api"] = "0"
import paddle

paddle.enable_static()
x = paddle.static.data("x", [1], "float32")
x.stop_gradient = False
y = x * x
z = y * x
(g,) = paddle.static.gradients([y, z], x)

(value,) = paddle.static.Executor().run(feed={"x": [2.0]}, fetch_list=[g])
assert value.tolist() == [16.0], f"the gradient of x^2 + x^3 at 2 is {value.tolist()}, and [16.0] is right"
