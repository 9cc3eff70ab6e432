"""Case 11cb5a69491b7012, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x = paddle.to_tensor(np.array([1.0, 2.0], dtype='float32').reshape((2,)), stop_gradient=False)

try:
    v = paddle.reshape(x, [2, 1])
    print("0: v =", v, "stop_gradient =", getattr(v, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    v.scale_(3.0)
    print("1: v =", v, "stop_gradient =", getattr(v, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
print("after: x =", x)
