"""Case 32e9c6c664b58b72, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x0 = paddle.to_tensor(np.array([], dtype='float32').reshape((2, 4, 0)), stop_gradient=False)
s9 = paddle.to_tensor(np.array([], dtype='float32').reshape((4, 0)), stop_gradient=True)

try:
    v4, v5, = paddle.unbind(x0, 0)
    print("0: v4 =", v4, "stop_gradient =", getattr(v4, "stop_gradient", None))
    print("0: v5 =", v5, "stop_gradient =", getattr(v5, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    g8, = paddle.grad([v4], [x0], [s9])
    print("1: g8 =", g8, "stop_gradient =", getattr(g8, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
print("after: x0 =", x0)
print("after: s9 =", s9)
