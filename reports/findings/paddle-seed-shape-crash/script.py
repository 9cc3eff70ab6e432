"""Case 780b7628bf43b8a9, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x8 = paddle.to_tensor(np.array([1.0, 2.0, 3.0], dtype='float32').reshape((1, 3)), stop_gradient=False)
s15 = paddle.to_tensor(np.array([1.0], dtype='float32').reshape((1,)), stop_gradient=True)

try:
    v14 = paddle.topk(x8, 1, 1)[0]
    print("0: v14 =", v14, "stop_gradient =", getattr(v14, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    paddle.autograd.backward([v14], [s15])
    print("1: x8.grad =", x8.grad)
except Exception as error:
    print("1:", type(error).__name__, error)
print("after: x8 =", x8)
print("after: s15 =", s15)
