"""Case 60d8eaf09294bc48, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x0 = paddle.to_tensor(np.array([1.0, 0.5, 1.0, 1.0, 1.0, 1.0, -1.0, 0.0], dtype='float32').reshape((4, 2)), stop_gradient=False)

try:
    v3 = paddle.pow(x0, 3.0)
    print("0: v3 =", v3, "stop_gradient =", getattr(v3, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    v5 = paddle.pow(v3, 0.0)
    print("1: v5 =", v5, "stop_gradient =", getattr(v5, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    g6, = paddle.grad([v5], [x0], None, create_graph=True)
    print("2: g6 =", g6, "stop_gradient =", getattr(g6, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    g8, = paddle.grad([g6], [x0], None)
    print("3: g8 =", g8, "stop_gradient =", getattr(g8, "stop_gradient", None))
except Exception as error:
    print("3:", type(error).__name__, error)
print("after: x0 =", x0)
