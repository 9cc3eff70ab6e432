"""Case f4ec42d7e7f7c3fb, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
c = paddle.to_tensor(np.array([1.0, 2.0], dtype='float32').reshape((2,)), stop_gradient=True)
w = paddle.to_tensor(np.array([5.0], dtype='float32').reshape((1,)), stop_gradient=False)

try:
    with paddle.no_grad():
        c.__setitem__(tuple((slice(*k) for k in [[0, 1, 1]])), w)
    print("0: c =", c, "stop_gradient =", getattr(c, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
print("after: c =", c)
print("after: w =", w)
