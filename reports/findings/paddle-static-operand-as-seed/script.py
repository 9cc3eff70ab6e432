"""A static program cannot take the operand of roll as the seed of its gradient: its memory is freed before."""

import numpy as np
import paddle

paddle.enable_static()
main, startup = paddle.static.Program(), paddle.static.Program()
with paddle.static.program_guard(main, startup):
    x = paddle.static.data("x", [3], "float32")
    x.stop_gradient = False
    y = paddle.roll(x, 1)
    (g,) = paddle.static.gradients([y], [x], [x])
    executor = paddle.static.Executor(paddle.CPUPlace())
    try:
        executor.run(main, feed={"x": np.array([1.0, 2.0, 3.0], "float32")}, fetch_list=[g])  # right: [2, 3, 1]
    except RuntimeError as error:
        print(error)  # Tensor holds no memory
    else:
        raise AssertionError("the program ran: mended")
