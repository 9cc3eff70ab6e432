"""Case 3801244e14676946, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x4 = paddle.to_tensor(np.array([1.0, 2.0], dtype='float32').reshape((2,)), stop_gradient=False)
x10 = paddle.to_tensor(np.array([2.0, 2.0], dtype='float32').reshape((2,)), stop_gradient=True)

try:
    v11 = paddle.nn.functional.mse_loss(x10, x4)
    print("0: v11 =", v11, "stop_gradient =", getattr(v11, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    g13, = paddle.grad([v11], [x4], None, create_graph=True)
    print("1: g13 =", g13, "stop_gradient =", getattr(g13, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    v15 = paddle.nn.functional.mse_loss(g13, x10)
    print("2: v15 =", v15, "stop_gradient =", getattr(v15, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    g17, = paddle.grad([v15], [g13], None)
    print("3: g17 =", g17, "stop_gradient =", getattr(g17, "stop_gradient", None))
except Exception as error:
    print("3:", type(error).__name__, error)
print("after: x4 =", x4)
print("after: x10 =", x10)
