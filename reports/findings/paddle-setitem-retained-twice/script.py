"""Case 1d856b648c7027ba, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x4 = paddle.to_tensor(np.array([0.0], dtype='float64').reshape((1,)), stop_gradient=False)
v3 = paddle.to_tensor(np.array([1.0, 2.0, 3.0], dtype='float64').reshape((3,)), stop_gradient=True)

try:
    v5 = (lambda out: out.__setitem__(tuple((slice(*k) for k in [[2, 3, 1]])), x4) or out)(paddle.clone(v3))
    print("0: v5 =", v5, "stop_gradient =", getattr(v5, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    v5.retain_grads()
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    paddle.autograd.backward([v5], None)
    print("2: x4.grad =", x4.grad)
    print("2: v5.grad =", v5.grad)
except Exception as error:
    print("2:", type(error).__name__, error)
print("after: x4 =", x4)
print("after: v3 =", v3)
