"""Case 596891b8d5cde98f, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x0 = paddle.to_tensor(np.array([1.0], dtype='float32').reshape(()), stop_gradient=False)
x1 = paddle.to_tensor(np.array([1.0, 2.0, 3.0, 4.0], dtype='float32').reshape((4, 1)), stop_gradient=True)

try:
    v2 = paddle.masked_fill(x1, paddle.to_tensor([[True], [False], [True], [True]]), x0)
    print("0: v2 =", v2, "stop_gradient =", getattr(v2, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    g3, = paddle.grad([v2], [x0], None, create_graph=True)
    print("1: g3 =", g3, "stop_gradient =", getattr(g3, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    paddle.autograd.backward([g3], None)
    print("2: x0.grad =", x0.grad)
except Exception as error:
    print("2:", type(error).__name__, error)
print("after: x0 =", x0)
print("after: x1 =", x1)
