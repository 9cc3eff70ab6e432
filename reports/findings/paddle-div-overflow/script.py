"""Case e916dedbd8b93b5d, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x = paddle.to_tensor(np.array([4e+37], dtype='float32').reshape((1,)), stop_gradient=False)
e = paddle.to_tensor(np.array([1e-07], dtype='float32').reshape((1,)), stop_gradient=False)

try:
    y = paddle.divide(x, e)
    print("0: y =", y, "stop_gradient =", getattr(y, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    z = paddle.sum(y, None, keepdim=False)
    print("1: z =", z, "stop_gradient =", getattr(z, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    g, = paddle.grad([z], [x], None, create_graph=True)
    print("2: g =", g, "stop_gradient =", getattr(g, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    w = paddle.sum(g, None, keepdim=False)
    print("3: w =", w, "stop_gradient =", getattr(w, "stop_gradient", None))
except Exception as error:
    print("3:", type(error).__name__, error)
try:
    h, = paddle.grad([w], [e], None)
    print("4: h =", h, "stop_gradient =", getattr(h, "stop_gradient", None))
except Exception as error:
    print("4:", type(error).__name__, error)
print("after: x =", x)
print("after: e =", e)
