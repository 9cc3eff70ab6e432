"""Case d199e5d78c00eae0, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x1 = paddle.to_tensor(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], dtype='float32').reshape((2, 3)), stop_gradient=False)

try:
    v5, v6, = paddle.split(x1, [1, 1], 0)
    print("0: v5 =", v5, "stop_gradient =", getattr(v5, "stop_gradient", None))
    print("0: v6 =", v6, "stop_gradient =", getattr(v6, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    g7, = paddle.grad([v6], [v5], None)
    print("1: g7 =", g7, "stop_gradient =", getattr(g7, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
print("after: x1 =", x1)
