"""Case 5c31a5cb331e154b, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x8 = paddle.to_tensor(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], dtype='float64').reshape((2, 4)), stop_gradient=False)
x10 = paddle.to_tensor(np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], dtype='float64').reshape((2, 4)), stop_gradient=False)
s16 = paddle.to_tensor(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], dtype='float64').reshape((2, 4)), stop_gradient=False)

try:
    v11 = paddle.minimum(x8, x10)
    print("0: v11 =", v11, "stop_gradient =", getattr(v11, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    v12 = paddle.minimum(v11, v11)
    print("1: v12 =", v12, "stop_gradient =", getattr(v12, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    g14, = paddle.grad([v12], [x8], [s16], create_graph=True)
    print("2: g14 =", g14, "stop_gradient =", getattr(g14, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    paddle.autograd.backward([g14], None)
    print("3: x8.grad =", x8.grad)
    print("3: x10.grad =", x10.grad)
    print("3: s16.grad =", s16.grad)
except Exception as error:
    print("3:", type(error).__name__, error)
print("after: x8 =", x8)
print("after: x10 =", x10)
print("after: s16 =", s16)
