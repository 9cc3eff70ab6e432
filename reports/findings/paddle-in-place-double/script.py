"""Case bd210a65ae5ddbc4, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x = paddle.to_tensor(np.array([1.0, 2.0], dtype='float32').reshape((2,)), stop_gradient=False)

try:
    h = x * 1.0
    print("0: h =", h, "stop_gradient =", getattr(h, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    h.sin_()
    print("1: h =", h, "stop_gradient =", getattr(h, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    g, = paddle.grad([h], [x], None, create_graph=True)
    print("2: g =", g, "stop_gradient =", getattr(g, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    gg, = paddle.grad([g], [x], None)
    print("3: gg =", gg, "stop_gradient =", getattr(gg, "stop_gradient", None))
except Exception as error:
    print("3:", type(error).__name__, error)
print("after: x =", x)
