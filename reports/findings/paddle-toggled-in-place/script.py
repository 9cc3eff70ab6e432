"""Case c2bceb091902df8d, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x1 = paddle.to_tensor(np.array([1.0, 2.0, 3.0], dtype='float32').reshape((1, 1, 3)), stop_gradient=False)

try:
    v2 = paddle.abs(x1)
    print("0: v2 =", v2, "stop_gradient =", getattr(v2, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    v3 = paddle.abs(x1)
    print("1: v3 =", v3, "stop_gradient =", getattr(v3, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    v3.stop_gradient = True
    print("2: v3 =", v3, "stop_gradient =", getattr(v3, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    v3.subtract_(v2)
    print("3: v3 =", v3, "stop_gradient =", getattr(v3, "stop_gradient", None))
except Exception as error:
    print("3:", type(error).__name__, error)
try:
    v5 = paddle.reshape(v3, [1, 3, 1])
    print("4: v5 =", v5, "stop_gradient =", getattr(v5, "stop_gradient", None))
except Exception as error:
    print("4:", type(error).__name__, error)
try:
    v10 = paddle.sum(v5, None, keepdim=False)
    print("5: v10 =", v10, "stop_gradient =", getattr(v10, "stop_gradient", None))
except Exception as error:
    print("5:", type(error).__name__, error)
try:
    g11, = paddle.grad([v10], [x1], None)
    print("6: g11 =", g11, "stop_gradient =", getattr(g11, "stop_gradient", None))
except Exception as error:
    print("6:", type(error).__name__, error)
print("after: x1 =", x1)
