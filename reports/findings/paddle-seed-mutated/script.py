"""Case 713907484293b832, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x1 = paddle.to_tensor(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0], dtype='float32').reshape((3, 3)), stop_gradient=False)
s9 = paddle.to_tensor(np.array([1.0], dtype='float32').reshape(()), stop_gradient=True)
s10 = paddle.to_tensor(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0], dtype='float32').reshape((3, 3)), stop_gradient=True)

try:
    v3 = x1[tuple((slice(*k) for k in [[0, 2, 2]]))]
    print("0: v3 =", v3, "stop_gradient =", getattr(v3, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    v5 = v3[tuple((slice(*k) for k in [[0, 1, 2]]))]
    print("1: v5 =", v5, "stop_gradient =", getattr(v5, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    v6 = paddle.sum(v5, None, keepdim=False)
    print("2: v6 =", v6, "stop_gradient =", getattr(v6, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    g7, g8, = paddle.grad([v6, x1], [v3, x1], [s9, s10])
    print("3: g7 =", g7, "stop_gradient =", getattr(g7, "stop_gradient", None))
    print("3: g8 =", g8, "stop_gradient =", getattr(g8, "stop_gradient", None))
except Exception as error:
    print("3:", type(error).__name__, error)
print("after: x1 =", x1)
print("after: s9 =", s9)
print("after: s10 =", s10)
