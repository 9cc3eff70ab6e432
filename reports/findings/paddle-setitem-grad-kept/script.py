"""Case 6967b0fe2efb041a, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x11 = paddle.to_tensor(np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], dtype='float32').reshape((2, 3, 3)), stop_gradient=True)
v7 = paddle.to_tensor(np.array([1.0], dtype='float32').reshape(()), stop_gradient=False)

try:
    v12 = (lambda out: out.__setitem__(tuple((slice(*k) for k in [[1, 2, 2]])), v7) or out)(paddle.clone(x11))
    print("0: v12 =", v12, "stop_gradient =", getattr(v12, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    v13 = paddle.unsqueeze(v12, 0)
    print("1: v13 =", v13, "stop_gradient =", getattr(v13, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    paddle.autograd.backward((v13,), None)
    print("2: v7.grad =", v7.grad)
    print("2: v12.grad =", v12.grad)
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    v12.stop_gradient = False
    print("3: v12 =", v12, "stop_gradient =", getattr(v12, "stop_gradient", None))
except Exception as error:
    print("3:", type(error).__name__, error)
print("after: x11 =", x11)
print("after: v7 =", v7)
