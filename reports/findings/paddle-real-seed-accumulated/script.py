"""Case b999f21c26602969, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
z = paddle.to_tensor(np.array([(1+2j), (3-1j)], dtype='complex64').reshape((2,)), stop_gradient=False)
w = paddle.to_tensor(np.array([(2+0j), (1+0j)], dtype='complex64').reshape((2,)), stop_gradient=False)
s = paddle.to_tensor(np.array([5.0, 6.0], dtype='float32').reshape((2,)), stop_gradient=True)

try:
    y = paddle.multiply(z, w)
    print("0: y =", y, "stop_gradient =", getattr(y, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    paddle.autograd.backward([z, y], [s, None])
    print("1: z.grad =", z.grad)
    print("1: w.grad =", w.grad)
except Exception as error:
    print("1:", type(error).__name__, error)
print("after: z =", z)
print("after: w =", w)
print("after: s =", s)
