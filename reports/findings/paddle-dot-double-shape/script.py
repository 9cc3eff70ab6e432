"""Case e0b895d3bd9cc9ff, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x1 = paddle.to_tensor(np.array([1.0, 2.0], dtype='float64').reshape((2,)), stop_gradient=False)
x3 = paddle.to_tensor(np.array([0.0, 2.0], dtype='float64').reshape((2,)), stop_gradient=False)
s8 = paddle.to_tensor(np.array([1.5], dtype='float32').reshape(()), stop_gradient=False)

try:
    v2 = paddle.multiply(x1, x1)
    print("0: v2 =", v2, "stop_gradient =", getattr(v2, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    v4 = paddle.matmul(v2, x3)
    print("1: v4 =", v4, "stop_gradient =", getattr(v4, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    g6, = paddle.grad([v4], [x1], [s8], create_graph=True)
    print("2: g6 =", g6, "stop_gradient =", getattr(g6, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    paddle.autograd.backward([g6], None)
    print("3: x1.grad =", x1.grad)
    print("3: x3.grad =", x3.grad)
    print("3: s8.grad =", s8.grad)
except Exception as error:
    print("3:", type(error).__name__, error)
print("after: x1 =", x1)
print("after: x3 =", x3)
print("after: s8 =", s8)
