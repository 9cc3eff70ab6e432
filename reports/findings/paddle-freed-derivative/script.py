"""Case e581d35d7f1a33f8, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x0 = paddle.to_tensor(np.array([1.0, 2.0, 3.0, 4.0], dtype='float64').reshape((4,)), stop_gradient=False)
s10 = paddle.to_tensor(np.array([1.0, 2.0, 3.0, 4.0], dtype='float32').reshape((4,)), stop_gradient=True)
v2 = paddle.to_tensor(np.array([1.0, 2.0, 3.0, 4.0], dtype='float64').reshape((4,)), stop_gradient=False)

try:
    v3 = paddle.multiply(x0, v2)
    print("0: v3 =", v3, "stop_gradient =", getattr(v3, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    v4 = paddle.sin(v3)
    print("1: v4 =", v4, "stop_gradient =", getattr(v4, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    v6 = x0[tuple((paddle.to_tensor(i) for i in [[0, 2]]))]
    print("2: v6 =", v6, "stop_gradient =", getattr(v6, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    v7 = paddle.multiply(v6, v6)
    print("3: v7 =", v7, "stop_gradient =", getattr(v7, "stop_gradient", None))
except Exception as error:
    print("3:", type(error).__name__, error)
try:
    v8 = v7[tuple((paddle.to_tensor(i) for i in [[0, 1, 0]]))]
    print("4: v8 =", v8, "stop_gradient =", getattr(v8, "stop_gradient", None))
except Exception as error:
    print("4:", type(error).__name__, error)
try:
    v11 = paddle.sum(v8, None, keepdim=False)
    print("5: v11 =", v11, "stop_gradient =", getattr(v11, "stop_gradient", None))
except Exception as error:
    print("5:", type(error).__name__, error)
try:
    g12, = paddle.grad([v11], [x0], None, create_graph=True)
    print("6: g12 =", g12, "stop_gradient =", getattr(g12, "stop_gradient", None))
except Exception as error:
    print("6:", type(error).__name__, error)
try:
    v13 = paddle.multiply(s10, g12)
    print("7: v13 =", v13, "stop_gradient =", getattr(v13, "stop_gradient", None))
except Exception as error:
    print("7:", type(error).__name__, error)
try:
    v15 = paddle.sum(v13, None, keepdim=False)
    print("8: v15 =", v15, "stop_gradient =", getattr(v15, "stop_gradient", None))
except Exception as error:
    print("8:", type(error).__name__, error)
try:
    g16, = paddle.grad([v15], [x0], None, create_graph=True)
    print("9: g16 =", g16, "stop_gradient =", getattr(g16, "stop_gradient", None))
except Exception as error:
    print("9:", type(error).__name__, error)
try:
    v18 = paddle.multiply(g16, v4)
    print("10: v18 =", v18, "stop_gradient =", getattr(v18, "stop_gradient", None))
except Exception as error:
    print("10:", type(error).__name__, error)
try:
    paddle.autograd.backward([v18], None)
    print("11: x0.grad =", x0.grad)
    print("11: v2.grad =", v2.grad)
except Exception as error:
    print("11:", type(error).__name__, error)
try:
    v23 = paddle.sum(v15, None, keepdim=False)
    print("12: v23 =", v23, "stop_gradient =", getattr(v23, "stop_gradient", None))
except Exception as error:
    print("12:", type(error).__name__, error)
try:
    g25, = paddle.grad([v23], [v6], None)
    print("13: g25 =", g25, "stop_gradient =", getattr(g25, "stop_gradient", None))
except Exception as error:
    print("13:", type(error).__name__, error)
print("after: x0 =", x0)
print("after: s10 =", s10)
print("after: v2 =", v2)
