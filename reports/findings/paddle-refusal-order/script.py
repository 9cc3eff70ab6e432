"""Case 7d8b954cd62d2fcb, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x0 = paddle.to_tensor(np.array([1.0, 2.0, 3.0], dtype='float32').reshape((3,)), stop_gradient=False)
x2 = paddle.to_tensor(np.array([2.0, 2.0], dtype='float32').reshape((2,)), stop_gradient=False)

try:
    v1 = paddle.min(x0, 0, keepdim=False)
    print("0: v1 =", v1, "stop_gradient =", getattr(v1, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    v3 = paddle.rsqrt(x2)
    print("1: v3 =", v3, "stop_gradient =", getattr(v3, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    v5 = paddle.log(v3)
    print("2: v5 =", v5, "stop_gradient =", getattr(v5, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    v9 = paddle.sum(v5, None, keepdim=False)
    print("3: v9 =", v9, "stop_gradient =", getattr(v9, "stop_gradient", None))
except Exception as error:
    print("3:", type(error).__name__, error)
try:
    paddle.autograd.backward(v9, None)
    print("4: x0.grad =", x0.grad)
    print("4: x2.grad =", x2.grad)
except Exception as error:
    print("4:", type(error).__name__, error)
try:
    g13, g14, = paddle.grad([v9, v1], [x0, x2], None, create_graph=True)
    print("5: g13 =", g13, "stop_gradient =", getattr(g13, "stop_gradient", None))
    print("5: g14 =", g14, "stop_gradient =", getattr(g14, "stop_gradient", None))
except Exception as error:
    print("5:", type(error).__name__, error)
print("after: x0 =", x0)
print("after: x2 =", x2)
