"""Case ade224d0a2bc4eec, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x0 = paddle.to_tensor(np.array([1.0, 2.0, 3.0], dtype='float32').reshape((3,)), stop_gradient=False)
s6 = paddle.to_tensor(np.array([1.0], dtype='float32').reshape(()), stop_gradient=True)
v9 = paddle.to_tensor(np.array([2.0], dtype='float32').reshape(()), stop_gradient=False)

try:
    v8 = paddle.multiply(s6, s6)
    print("0: v8 =", v8, "stop_gradient =", getattr(v8, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    g10, = paddle.grad([v9], [x0], None, no_grad_vars=[v8])
    print("1: g10 =", g10, "stop_gradient =", getattr(g10, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
print("after: x0 =", x0)
print("after: s6 =", s6)
print("after: v9 =", v9)
