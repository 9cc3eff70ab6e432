"""Case 2099e07e638a9536, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x0 = paddle.to_tensor(np.array([2.0, 1.5], dtype='float32').reshape((2,)), stop_gradient=False)
r5 = paddle.to_tensor(np.array([1.0], dtype='float32').reshape((1,)), stop_gradient=True)

try:
    v1 = paddle.take_along_axis(x0, paddle.to_tensor([1]), 0, broadcast=False)
    print("0: v1 =", v1, "stop_gradient =", getattr(v1, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    v2 = paddle.nn.functional.relu(v1)
    print("1: v2 =", v2, "stop_gradient =", getattr(v2, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    v3 = paddle.sum(v2, None, keepdim=False)
    print("2: v3 =", v3, "stop_gradient =", getattr(v3, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    def called_h4(g):
        print("    h4 saw", g)
        return r5
    h4 = v2.register_hook(called_h4)
except Exception as error:
    print("3:", type(error).__name__, error)
try:
    g6, = paddle.grad([v3], [x0], None, create_graph=True)
    print("4: g6 =", g6, "stop_gradient =", getattr(g6, "stop_gradient", None))
except Exception as error:
    print("4:", type(error).__name__, error)
try:
    v7 = paddle.multiply(g6, v3)
    print("5: v7 =", v7, "stop_gradient =", getattr(v7, "stop_gradient", None))
except Exception as error:
    print("5:", type(error).__name__, error)
try:
    v8 = paddle.multiply(v7, r5)
    print("6: v8 =", v8, "stop_gradient =", getattr(v8, "stop_gradient", None))
except Exception as error:
    print("6:", type(error).__name__, error)
try:
    paddle.autograd.backward([v8], None)
    print("7: x0.grad =", x0.grad)
except Exception as error:
    print("7:", type(error).__name__, error)
print("after: x0 =", x0)
print("after: r5 =", r5)
