"""Case 74cd2382b44912ea, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x8 = paddle.to_tensor(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], dtype='float32').reshape((6,)), stop_gradient=False)
v7 = paddle.to_tensor(np.array([0.0, 1.0, 0.0, 0.0, 1.0, 0.0], dtype='float32').reshape((6,)), stop_gradient=True)

try:
    v9 = paddle.concat([v7, x8, x8], 0)
    print("0: v9 =", v9, "stop_gradient =", getattr(v9, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    g11, = paddle.grad([v9], [x8], None, create_graph=True)
    print("1: g11 =", g11, "stop_gradient =", getattr(g11, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    paddle.autograd.backward([g11], None)
    print("2: x8.grad =", x8.grad)
except Exception as error:
    print("2:", type(error).__name__, error)
print("after: x8 =", x8)
print("after: v7 =", v7)
