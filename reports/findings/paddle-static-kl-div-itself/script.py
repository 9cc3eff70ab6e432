import numpy as np
import paddle

paddle.enable_static()
x = paddle.static.data("x", [2], "float32")
x.stop_gradient = False
loss = paddle.nn.functional.kl_div(x, x, log_target=True)
(g,) = paddle.static.gradients([loss], [x])
try:
    paddle.static.Executor(paddle.CPUPlace()).run(feed={"x": np.ones(2, "float32")}, fetch_list=[g])
except RuntimeError as error:
    assert "Tensor holds no memory" not in str(error), "the program was built, and fails when it runs: a tensor holds no memory"
    raise
