"""Case 925e6ce657b17d99, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
z = paddle.to_tensor(np.array([(1+1j)], dtype='complex64').reshape((1,)), stop_gradient=False)
w = paddle.to_tensor(np.array([(1+1j)], dtype='complex64').reshape((1,)), stop_gradient=False)
s = paddle.to_tensor(np.array([1j], dtype='complex64').reshape((1,)), stop_gradient=True)

try:
    y = paddle.pow(z, w)
    print("0: y =", y, "stop_gradient =", getattr(y, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    gz, gw, = paddle.grad([y], [z, w], [s])
    print("1: gz =", gz, "stop_gradient =", getattr(gz, "stop_gradient", None))
    print("1: gw =", gw, "stop_gradient =", getattr(gw, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
print("after: z =", z)
print("after: w =", w)
print("after: s =", s)
