"""Case 7b72e379dfc5516c, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x = paddle.to_tensor(np.array([1.0, 0.0, -2.0], dtype='float32').reshape((3,)), stop_gradient=False)

try:
    y = paddle.nn.functional.leaky_relu(x, 0.25)
    print("0: y =", y, "stop_gradient =", getattr(y, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    q = paddle.multiply(y, y)
    print("1: q =", q, "stop_gradient =", getattr(q, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    g, = paddle.grad([q], [x], None, create_graph=True)
    print("2: g =", g, "stop_gradient =", getattr(g, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    h, = paddle.grad([g], [x], None)
    print("3: h =", h, "stop_gradient =", getattr(h, "stop_gradient", None))
except Exception as error:
    print("3:", type(error).__name__, error)
print("after: x =", x)
