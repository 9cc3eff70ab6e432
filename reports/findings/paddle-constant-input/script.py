"""Case 7bfbea2b3482a889, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x0 = paddle.to_tensor(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0], dtype='float32').reshape((3, 1, 3)), stop_gradient=False)
v4 = paddle.to_tensor(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0], dtype='float32').reshape((3, 1, 3)), stop_gradient=False)

try:
    v3 = paddle.min(x0, 1, keepdim=False)
    print("0: v3 =", v3, "stop_gradient =", getattr(v3, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    g7, = paddle.grad([v3], [x0], None)
    print("1: g7 =", g7, "stop_gradient =", getattr(g7, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    g9, = paddle.grad([v4], [g7], None)
    print("2: g9 =", g9, "stop_gradient =", getattr(g9, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
print("after: x0 =", x0)
print("after: v4 =", v4)
