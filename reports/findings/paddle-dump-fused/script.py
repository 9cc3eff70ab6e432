"""Case 744458c6858ee00c, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x4 = paddle.to_tensor(np.array([1.0], dtype='float32').reshape(()), stop_gradient=False)
v3 = paddle.to_tensor(np.array([1.0, 2.0], dtype='float32').reshape((2,)), stop_gradient=True)

try:
    v5 = paddle.multiply(v3, x4)
    print("0: v5 =", v5, "stop_gradient =", getattr(v5, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    g11, = paddle.grad([v5], [x4], None, create_graph=True)
    print("1: g11 =", g11, "stop_gradient =", getattr(g11, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    paddle.autograd.backward([g11], None, dump_backward_graph_path='dump')
    print("2: x4.grad =", x4.grad)
except Exception as error:
    print("2:", type(error).__name__, error)
print("after: x4 =", x4)
print("after: v3 =", v3)
