"""Case 19156d887aa942e9, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x0 = paddle.to_tensor(np.array([0.0, 2.0, 1.0], dtype='float32').reshape((3,)), stop_gradient=False)
x3 = paddle.to_tensor(np.array([1.0], dtype='float32').reshape(()), stop_gradient=False)

try:
    v4 = paddle.masked_fill(x0, paddle.to_tensor([True, False, False]), x3)
    print("0: v4 =", v4, "stop_gradient =", getattr(v4, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    paddle.autograd.backward([v4], None)
    print("1: x0.grad =", x0.grad)
    print("1: x3.grad =", x3.grad)
except Exception as error:
    print("1:", type(error).__name__, error)
print("after: x0 =", x0)
print("after: x3 =", x3)
