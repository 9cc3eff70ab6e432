import os

os.environ["FLAGS_enable_pir_api"] = "0"
import paddle

paddle.enable_static()
x = paddle.static.data("x", [2], "float32")
x.stop_gradient = False
double = paddle.full([2], 3.0, "float64")
(g,) = paddle.static.gradients([double * x], [x])

(value,) = paddle.static.Executor().run(feed={"x": [1.0, 2.0]}, fetch_list=[g])
assert str(value.dtype) == "float32", f"the gradient in a float32 factor is {value.dtype}, and float32 is right, as {g.dtype} says"
