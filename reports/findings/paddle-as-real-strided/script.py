"""Case 013b5f11108ed477, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
z = paddle.to_tensor(np.array([(1+2j), (3+4j), (5+6j)], dtype='complex64').reshape((3,)), stop_gradient=False)
s = paddle.to_tensor(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], dtype='float32').reshape((2, 3)), stop_gradient=True)

try:
    y = paddle.as_real(z)
    print("0: y =", y, "stop_gradient =", getattr(y, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    u = paddle.t(y)
    print("1: u =", u, "stop_gradient =", getattr(u, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    g, = paddle.grad([u], [z], [s])
    print("2: g =", g, "stop_gradient =", getattr(g, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
print("after: z =", z)
print("after: s =", s)
