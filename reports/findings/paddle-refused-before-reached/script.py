"""Case daceeba4d9edcb2f, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x0 = paddle.to_tensor(np.array([1.0, 2.0, 3.0], dtype='float32').reshape((1, 3)), stop_gradient=False)
v1 = paddle.to_tensor(np.array([1.0, 0.0, 0.0], dtype='float32').reshape((1, 3)), stop_gradient=False)

try:
    v2 = paddle.divide(v1, x0)
    print("0: v2 =", v2, "stop_gradient =", getattr(v2, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    g4, = paddle.grad([v2], [v1], None, create_graph=True)
    print("1: g4 =", g4, "stop_gradient =", getattr(g4, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    g6, = paddle.grad([g4], [v2], None, create_graph=True)
    print("2: g6 =", g6, "stop_gradient =", getattr(g6, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
print("after: x0 =", x0)
print("after: v1 =", v1)
