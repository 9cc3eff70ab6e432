"""Case 39fbfe8e1b1f475a, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x2 = paddle.to_tensor(np.array([1.0, 2.0, 2.0, 1.0, 2.0, 2.0, 1.0, 2.0, 1.0], dtype='float32').reshape((3, 3)), stop_gradient=False)
s6 = paddle.to_tensor(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0], dtype='float64').reshape((3, 3)), stop_gradient=True)

try:
    paddle.autograd.backward([x2], [s6])
    print("0: x2.grad =", x2.grad)
except Exception as error:
    print("0:", type(error).__name__, error)
print("after: x2 =", x2)
print("after: s6 =", s6)
