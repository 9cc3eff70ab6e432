import os

os.environ["FLAGS_enable_pir_api"] = "0"
import paddle

paddle.enable_static()
x = paddle.static.data("x", [2], "float32")
x.stop_gradient = False
w = paddle.static.data("w", [2], "float32")
w.stop_gradient = False

gradients = paddle.static.gradients(x * x, w)
assert gradients == [None], f"gradients() with one input returns {gradients}, and [None] is right"
