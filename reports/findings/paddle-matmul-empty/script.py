"""Case 70b5c3996c481c82, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x2 = paddle.to_tensor(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], dtype='float32').reshape((2, 3)), stop_gradient=False)
x3 = paddle.to_tensor(np.array([], dtype='float32').reshape((0, 3)), stop_gradient=True)
x4 = paddle.to_tensor(np.array([], dtype='float32').reshape((0,)), stop_gradient=True)

try:
    v5 = paddle.nn.functional.linear(x2, paddle.t(x3), x4)
    print("0: v5 =", v5, "stop_gradient =", getattr(v5, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    v8 = paddle.multiply(v5, v5)
    print("1: v8 =", v8, "stop_gradient =", getattr(v8, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    paddle.autograd.backward([v8], None)
    print("2: x2.grad =", x2.grad)
except Exception as error:
    print("2:", type(error).__name__, error)
print("after: x2 =", x2)
print("after: x3 =", x3)
print("after: x4 =", x4)
