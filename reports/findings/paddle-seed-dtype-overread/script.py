"""Case af61ea681e291c76, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x = paddle.to_tensor(np.array([1.0, 2.0, 3.0], dtype='float64').reshape((3,)), stop_gradient=False)
c = paddle.to_tensor(np.array([10.0, 20.0, 30.0], dtype='float64').reshape((3,)), stop_gradient=True)
s = paddle.to_tensor(np.array([1.0, 1.0, 1.0], dtype='float64').reshape((3,)), stop_gradient=True)
t = paddle.to_tensor(np.array([1.0, 2.0, 3.0], dtype='float32').reshape((3,)), stop_gradient=True)

try:
    y = paddle.multiply(x, c)
    print("0: y =", y, "stop_gradient =", getattr(y, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    paddle.autograd.backward([y, x], [s, t])
    print("1: x.grad =", x.grad)
except Exception as error:
    print("1:", type(error).__name__, error)
print("after: x =", x)
print("after: c =", c)
print("after: s =", s)
print("after: t =", t)
