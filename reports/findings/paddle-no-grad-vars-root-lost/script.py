"""Case 905ce987b334d70d, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x0 = paddle.to_tensor(np.array([1.0], dtype='float32').reshape(()), stop_gradient=False)
x2 = paddle.to_tensor(np.array([1.0], dtype='float32').reshape(()), stop_gradient=True)

try:
    v1 = paddle.multiply(x0, x0)
    print("0: v1 =", v1, "stop_gradient =", getattr(v1, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    v3 = paddle.add(v1, x2)
    print("1: v3 =", v3, "stop_gradient =", getattr(v3, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    v7 = paddle.sum(v3, None, keepdim=False)
    print("2: v7 =", v7, "stop_gradient =", getattr(v7, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    g8, = paddle.grad([v7, v1], [x0], None, allow_unused=True, no_grad_vars={v1})
    print("3: g8 =", g8, "stop_gradient =", getattr(g8, "stop_gradient", None))
except Exception as error:
    print("3:", type(error).__name__, error)
print("after: x0 =", x0)
print("after: x2 =", x2)
