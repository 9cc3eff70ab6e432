"""Case eef33f9b74da5923, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x = paddle.to_tensor(np.array([0.0, 100.0], dtype='float32').reshape((1, 2)), stop_gradient=False)

try:
    y = paddle.nn.functional.log_softmax(x, 1)
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
