"""Case 80af796eeb1a0d9b, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x0 = paddle.to_tensor(np.array([], dtype='float32').reshape((0, 1)), stop_gradient=False)

try:
    v2 = x0.expand([0, 0, 2])
    print("0: v2 =", v2, "stop_gradient =", getattr(v2, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    v3 = paddle.sum(v2, None, keepdim=False)
    print("1: v3 =", v3, "stop_gradient =", getattr(v3, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    paddle.autograd.backward([v3], None)
    print("2: x0.grad =", x0.grad)
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    x0.clear_gradient(False)
    print("3: x0.grad =", x0.grad)
except Exception as error:
    print("3:", type(error).__name__, error)
print("after: x0 =", x0)
