"""Case 3d19212d2f7e5181, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x = paddle.to_tensor(np.array([3.0, 5.0], dtype='float32').reshape((2,)), stop_gradient=False)

try:
    h = paddle.multiply(x, x)
    print("0: h =", h, "stop_gradient =", getattr(h, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    paddle.autograd.backward([h], [])
    print("1: x.grad =", x.grad)
except Exception as error:
    print("1:", type(error).__name__, error)
print("after: x =", x)
