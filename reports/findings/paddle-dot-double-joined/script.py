"""Case 8e8c0cdab3bc0741, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x = paddle.to_tensor(np.array([1.0, 2.0], dtype='float32').reshape((2,)), stop_gradient=False)
y = paddle.to_tensor(np.array([3.0], dtype='float32').reshape(()), stop_gradient=False)
s = paddle.to_tensor(np.array([1.0, -1.0], dtype='float32').reshape((2,)), stop_gradient=False)
w = paddle.to_tensor(np.array([1.0, 2.0], dtype='float32').reshape((2,)), stop_gradient=True)

try:
    v = paddle.matmul(x, x)
    print("0: v =", v, "stop_gradient =", getattr(v, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    z = paddle.stack([y, v], 0)
    print("1: z =", z, "stop_gradient =", getattr(z, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    g, = paddle.grad([z], [x], [s], create_graph=True)
    print("2: g =", g, "stop_gradient =", getattr(g, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    h, = paddle.grad([g], [s], [w])
    print("3: h =", h, "stop_gradient =", getattr(h, "stop_gradient", None))
except Exception as error:
    print("3:", type(error).__name__, error)
print("after: x =", x)
print("after: y =", y)
print("after: s =", s)
print("after: w =", w)
