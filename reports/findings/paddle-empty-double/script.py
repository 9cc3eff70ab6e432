"""Case 6fbe325ce612cd27, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x7 = paddle.to_tensor(np.array([], dtype='float64').reshape((0, 1)), stop_gradient=False)
v1 = paddle.to_tensor(np.array([], dtype='float64').reshape((0, 1, 2)), stop_gradient=False)

try:
    v18 = paddle.multiply(v1, x7)
    print("0: v18 =", v18, "stop_gradient =", getattr(v18, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    g20, = paddle.grad([v18], [x7], None, create_graph=True)
    print("1: g20 =", g20, "stop_gradient =", getattr(g20, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    v22 = paddle.sum(g20, None, keepdim=False)
    print("2: v22 =", v22, "stop_gradient =", getattr(v22, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    paddle.autograd.backward([v22], None)
    print("3: x7.grad =", x7.grad)
    print("3: v1.grad =", v1.grad)
except Exception as error:
    print("3:", type(error).__name__, error)
print("after: x7 =", x7)
print("after: v1 =", v1)
