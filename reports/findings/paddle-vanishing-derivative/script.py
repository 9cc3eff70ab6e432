"""Case b50ed11db7b69c1d, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x0 = paddle.to_tensor(np.array([1.0, 2.0], dtype='float32').reshape((2,)), stop_gradient=False)

try:
    v1 = paddle.pow(x0, 1.0)
    print("0: v1 =", v1, "stop_gradient =", getattr(v1, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    g2, = paddle.grad([v1], [x0], None, create_graph=True)
    print("1: g2 =", g2, "stop_gradient =", getattr(g2, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    g5, = paddle.grad([g2], [x0], None, create_graph=True)
    print("2: g5 =", g5, "stop_gradient =", getattr(g5, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    v8 = g5 + -1.5
    print("3: v8 =", v8, "stop_gradient =", getattr(v8, "stop_gradient", None))
except Exception as error:
    print("3:", type(error).__name__, error)
try:
    paddle.autograd.backward([v8], None)
    print("4: x0.grad =", x0.grad)
except Exception as error:
    print("4:", type(error).__name__, error)
print("after: x0 =", x0)
