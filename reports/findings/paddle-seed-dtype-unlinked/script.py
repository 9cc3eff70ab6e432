"""Case 52aeeabd3bcfeb65, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x = paddle.to_tensor(np.array([1.0, 2.0, 3.0, 4.0], dtype='float32').reshape((2, 2)), stop_gradient=False)
s = paddle.to_tensor(np.array([1.0, 2.0, 3.0, 4.0], dtype='float64').reshape((2, 2)), stop_gradient=False)
r = paddle.to_tensor(np.array([1.0, 1.0, 1.0, 1.0], dtype='float32').reshape((2, 2)), stop_gradient=True)

try:
    y = paddle.t(x)
    print("0: y =", y, "stop_gradient =", getattr(y, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    g, = paddle.grad([y], [x], [s], create_graph=True)
    print("1: g =", g, "stop_gradient =", getattr(g, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    h, = paddle.grad([g], [s], [r], allow_unused=True)
    print("2: h =", h, "stop_gradient =", getattr(h, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
print("after: x =", x)
print("after: s =", s)
print("after: r =", r)
