"""Case 9d7f9889223bfd13, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x0 = paddle.to_tensor(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], dtype='float32').reshape((2, 4)), stop_gradient=False)

try:
    v2 = paddle.tile(x0, [1, 1])
    print("0: v2 =", v2, "stop_gradient =", getattr(v2, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    g3, g4, = paddle.grad([v2], [x0, v2], None)
    print("1: g3 =", g3, "stop_gradient =", getattr(g3, "stop_gradient", None))
    print("1: g4 =", g4, "stop_gradient =", getattr(g4, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
print("after: x0 =", x0)
