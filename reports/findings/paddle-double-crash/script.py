"""Case 62c3a71662832d26, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x1 = paddle.to_tensor(np.array([0.0, 1.0], dtype='float32').reshape((2, 1)), stop_gradient=False)
s4 = paddle.to_tensor(np.array([0.0, 1.0], dtype='float32').reshape((2,)), stop_gradient=True)

try:
    v2 = paddle.squeeze(x1, 1)
    print("0: v2 =", v2, "stop_gradient =", getattr(v2, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    g3, = paddle.grad([v2], [x1], [s4], create_graph=True)
    print("1: g3 =", g3, "stop_gradient =", getattr(g3, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    paddle.autograd.backward([g3], None)
    print("2: x1.grad =", x1.grad)
except Exception as error:
    print("2:", type(error).__name__, error)
print("after: x1 =", x1)
print("after: s4 =", s4)
