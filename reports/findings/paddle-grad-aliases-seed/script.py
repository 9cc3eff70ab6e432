"""Case 6aefcfa6482a7ec9, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x = paddle.to_tensor(np.array([1.0, 2.0], dtype='float32').reshape((2,)), stop_gradient=False)
s = paddle.to_tensor(np.array([1.0, 1.0], dtype='float32').reshape((2,)), stop_gradient=True)

try:
    g, = paddle.grad([x], [x], [s])
    print("0: g =", g, "stop_gradient =", getattr(g, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    g.scale_(3.0)
    print("1: g =", g, "stop_gradient =", getattr(g, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
print("after: x =", x)
print("after: s =", s)
