"""Case c12c6aa3ca67b009, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x1 = paddle.to_tensor(np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], dtype='float32').reshape((3, 2, 2)), stop_gradient=False)
x2 = paddle.to_tensor(np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], dtype='float32').reshape((3, 2, 3)), stop_gradient=False)

try:
    v3 = paddle.bmm(x1, x2)
    print("0: v3 =", v3, "stop_gradient =", getattr(v3, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    v5, v6, v7, = paddle.unbind(x2, 0)
    print("1: v5 =", v5, "stop_gradient =", getattr(v5, "stop_gradient", None))
    print("1: v6 =", v6, "stop_gradient =", getattr(v6, "stop_gradient", None))
    print("1: v7 =", v7, "stop_gradient =", getattr(v7, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    v8 = v5[tuple((paddle.to_tensor(i) for i in [[0, 0, 0, 0]]))]
    print("2: v8 =", v8, "stop_gradient =", getattr(v8, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    v9 = paddle.flatten(v3, 1)
    print("3: v9 =", v9, "stop_gradient =", getattr(v9, "stop_gradient", None))
except Exception as error:
    print("3:", type(error).__name__, error)
try:
    v10 = paddle.sum(v9, None, keepdim=False)
    print("4: v10 =", v10, "stop_gradient =", getattr(v10, "stop_gradient", None))
except Exception as error:
    print("4:", type(error).__name__, error)
try:
    g11, = paddle.grad([v10], [x2], None)
    print("5: g11 =", g11, "stop_gradient =", getattr(g11, "stop_gradient", None))
except Exception as error:
    print("5:", type(error).__name__, error)
try:
    paddle.autograd.backward([v8], None)
    print("6: x1.grad =", x1.grad)
    print("6: x2.grad =", x2.grad)
except Exception as error:
    print("6:", type(error).__name__, error)
try:
    paddle.autograd.backward([v3, v7], None)
    print("7: x1.grad =", x1.grad)
    print("7: x2.grad =", x2.grad)
except Exception as error:
    print("7:", type(error).__name__, error)
print("after: x1 =", x1)
print("after: x2 =", x2)
