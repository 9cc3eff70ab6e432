"""Case ad2968791ba06e2e, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x = paddle.to_tensor(np.array([1.0, 2.0, 3.0, 4.0], dtype='float32').reshape((1, 1, 2, 2)), stop_gradient=False)
w = paddle.to_tensor(np.array([1.0, 0.0, 2.0, 1.0], dtype='float32').reshape((1, 1, 2, 2)), stop_gradient=False)
s = paddle.to_tensor(np.array([3.0], dtype='float32').reshape((1, 1, 1, 1)), stop_gradient=False)

try:
    y = paddle.nn.functional.conv2d(x, w, padding=[0, 0])
    print("0: y =", y, "stop_gradient =", getattr(y, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    g, = paddle.grad([y], [w], [s], create_graph=True)
    print("1: g =", g, "stop_gradient =", getattr(g, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    h, = paddle.grad([g], [s], None, allow_unused=True)
    print("2: h =", h, "stop_gradient =", getattr(h, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
print("after: x =", x)
print("after: w =", w)
print("after: s =", s)
