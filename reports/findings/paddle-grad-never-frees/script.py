"""Case 9bc9ccb757f5db7f, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x1 = paddle.to_tensor(np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], dtype='float32').reshape((4, 3)), stop_gradient=False)

try:
    v2 = paddle.abs(x1)
    print("0: v2 =", v2, "stop_gradient =", getattr(v2, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    g3, = paddle.grad([v2], [x1], None)
    print("1: g3 =", g3, "stop_gradient =", getattr(g3, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    g5, = paddle.grad([v2], [x1], None)
    print("2: g5 =", g5, "stop_gradient =", getattr(g5, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
print("after: x1 =", x1)
