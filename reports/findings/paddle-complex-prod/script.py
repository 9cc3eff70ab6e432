"""Case 8fc2cf63794d15e2, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
z = paddle.to_tensor(np.array([(1+2j), (3+1j)], dtype='complex64').reshape((2,)), stop_gradient=False)
s = paddle.to_tensor(np.array([(1+0j)], dtype='complex64').reshape(()), stop_gradient=True)

try:
    y = paddle.prod(z, 0, keepdim=False)
    print("0: y =", y, "stop_gradient =", getattr(y, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    g, = paddle.grad([y], [z], [s])
    print("1: g =", g, "stop_gradient =", getattr(g, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
print("after: z =", z)
print("after: s =", s)
