"""Case 1f965778f3d5c055, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x0 = paddle.to_tensor(np.array([1.0], dtype='float32').reshape((1, 1)), stop_gradient=False)
x3 = paddle.to_tensor(np.array([1.0], dtype='float32').reshape((1, 1)), stop_gradient=False)
s10 = paddle.to_tensor(np.array([1.0], dtype='float32').reshape(()), stop_gradient=False)

try:
    d2 = x0.detach()
    print("0: d2 =", d2, "stop_gradient =", getattr(d2, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    v4 = paddle.maximum(d2, x3)
    print("1: v4 =", v4, "stop_gradient =", getattr(v4, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    v7 = paddle.sin(v4)
    print("2: v7 =", v7, "stop_gradient =", getattr(v7, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    v8 = paddle.sum(v7, None, keepdim=False)
    print("3: v8 =", v8, "stop_gradient =", getattr(v8, "stop_gradient", None))
except Exception as error:
    print("3:", type(error).__name__, error)
try:
    g9, = paddle.grad([v8], [v4], [s10], create_graph=True)
    print("4: g9 =", g9, "stop_gradient =", getattr(g9, "stop_gradient", None))
except Exception as error:
    print("4:", type(error).__name__, error)
try:
    v12 = paddle.sin(v8)
    print("5: v12 =", v12, "stop_gradient =", getattr(v12, "stop_gradient", None))
except Exception as error:
    print("5:", type(error).__name__, error)
try:
    paddle.autograd.backward([v12], None)
    print("6: x0.grad =", x0.grad)
    print("6: x3.grad =", x3.grad)
    print("6: s10.grad =", s10.grad)
except Exception as error:
    print("6:", type(error).__name__, error)
try:
    paddle.autograd.backward([g9], None)
    print("7: x0.grad =", x0.grad)
    print("7: x3.grad =", x3.grad)
    print("7: s10.grad =", s10.grad)
except Exception as error:
    print("7:", type(error).__name__, error)
print("after: x0 =", x0)
print("after: x3 =", x3)
print("after: s10 =", s10)
