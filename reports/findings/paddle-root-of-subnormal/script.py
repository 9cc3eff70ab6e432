"""Case 0429b6710ac22a0b, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x = paddle.to_tensor(np.array([1.12103877e-44, 1.12103877e-44, 1.12103877e-44, 1.12103877e-44, 1.12103877e-44, 1.12103877e-44, 1.12103877e-44, 1.12103877e-44, 1.12103877e-44, 1.12103877e-44, 1.12103877e-44, 1.12103877e-44, 1.12103877e-44, 1.12103877e-44, 1.12103877e-44, 1.12103877e-44], dtype='float32').reshape((16,)), stop_gradient=False)

try:
    y = paddle.sqrt(x)
    print("0: y =", y, "stop_gradient =", getattr(y, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    z = paddle.sum(y, None, keepdim=False)
    print("1: z =", z, "stop_gradient =", getattr(z, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    g, = paddle.grad([z], [x], None)
    print("2: g =", g, "stop_gradient =", getattr(g, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
print("after: x =", x)
