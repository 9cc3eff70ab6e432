import numpy as np
import paddle

paddle.enable_static()
x = paddle.static.data("x", [8, 0], "float32")
y = paddle.static.data("y", [0, 8], "float32")
s = paddle.static.data("s", [8, 8], "float32")
x.stop_gradient = y.stop_gradient = s.stop_gradient = False
(g,) = paddle.static.gradients(x @ y, x, s)  # s y^T, which has no elements
(h,) = paddle.static.gradients(g, s)

used = [s + number for number in range(8)]  # what lies in memory from run to run
feed = {"x": np.ones([8, 0], "float32"), "y": np.ones([0, 8], "float32"), "s": np.ones([8, 8], "float32")}
executor = paddle.static.Executor()
for run in range(40):
    found = executor.run(feed=feed, fetch_list=[h, *used])[0]
    assert not found.any(), f"in run {run} the derivative of a gradient without elements has {found[found != 0][0]}, and zeros are right"
