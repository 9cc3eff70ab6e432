"""Case 529a8fd80f3a1dc1, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
z = paddle.to_tensor(np.array([(3+4j)], dtype='complex64').reshape((1,)), stop_gradient=False)
s = paddle.to_tensor(np.array([1j], dtype='complex64').reshape((1,)), stop_gradient=True)
r = paddle.to_tensor(np.array([1j], dtype='complex64').reshape((1,)), stop_gradient=True)

try:
    y = paddle.sqrt(z)
    print("0: y =", y, "stop_gradient =", getattr(y, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    g, = paddle.grad([y], [z], [s], create_graph=True)
    print("1: g =", g, "stop_gradient =", getattr(g, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    h, = paddle.grad([g], [z], [r])
    print("2: h =", h, "stop_gradient =", getattr(h, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
print("after: z =", z)
print("after: s =", s)
print("after: r =", r)
