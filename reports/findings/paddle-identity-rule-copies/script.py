"""Case 0db477de3ebea7ab, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x1 = paddle.to_tensor(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], dtype='float32').reshape((2, 3)), stop_gradient=False)
s4 = paddle.to_tensor(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], dtype='float32').reshape((2, 3)), stop_gradient=False)

try:
    v2 = paddle.clone(x1)
    print("0: v2 =", v2, "stop_gradient =", getattr(v2, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    g6, = paddle.grad([v2], [x1], [s4], create_graph=True)
    print("1: g6 =", g6, "stop_gradient =", getattr(g6, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    v10 = paddle.minimum(s4, x1)
    print("2: v10 =", v10, "stop_gradient =", getattr(v10, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    g12, g13, = paddle.grad([v10], [g6, s4], None, allow_unused=True)
    print("3: g12 =", g12, "stop_gradient =", getattr(g12, "stop_gradient", None))
    print("3: g13 =", g13, "stop_gradient =", getattr(g13, "stop_gradient", None))
except Exception as error:
    print("3:", type(error).__name__, error)
print("after: x1 =", x1)
print("after: s4 =", s4)
