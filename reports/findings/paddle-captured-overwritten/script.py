"""Case 9adaa96da9890883, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x0 = paddle.to_tensor(np.array([1.0, 2.0, 3.0, 4.0], dtype='float32').reshape((1, 4)), stop_gradient=False)

try:
    v2 = paddle.clip(x0, -2.0, -1.0)
    print("0: v2 =", v2, "stop_gradient =", getattr(v2, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    v9 = paddle.squeeze(v2, 0)
    print("1: v9 =", v9, "stop_gradient =", getattr(v9, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    v12 = paddle.sum(v9, None, keepdim=False)
    print("2: v12 =", v12, "stop_gradient =", getattr(v12, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    g13, g14, = paddle.grad([v12], [x0, v9], None)
    print("3: g13 =", g13, "stop_gradient =", getattr(g13, "stop_gradient", None))
    print("3: g14 =", g14, "stop_gradient =", getattr(g14, "stop_gradient", None))
except Exception as error:
    print("3:", type(error).__name__, error)
print("after: x0 =", x0)
