"""Case 43da2a2d2687237c, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x = paddle.to_tensor(np.array([1.0, 2.0], dtype='float32').reshape((2,)), stop_gradient=False)

try:
    h = paddle.clone(x)
    print("0: h =", h, "stop_gradient =", getattr(h, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    v = h[0]
    print("1: v =", v, "stop_gradient =", getattr(v, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    v.scale_(3.0)
    print("2: v =", v, "stop_gradient =", getattr(v, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    z = paddle.sum(h, None, keepdim=False)
    print("3: z =", z, "stop_gradient =", getattr(z, "stop_gradient", None))
except Exception as error:
    print("3:", type(error).__name__, error)
try:
    g, = paddle.grad([z], [x], None)
    print("4: g =", g, "stop_gradient =", getattr(g, "stop_gradient", None))
except Exception as error:
    print("4:", type(error).__name__, error)
print("after: x =", x)
