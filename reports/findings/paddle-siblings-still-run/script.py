"""Case b83b58cc393ef8ea, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x9 = paddle.to_tensor(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0], dtype='float32').reshape((3, 3)), stop_gradient=False)
v7 = paddle.to_tensor(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0], dtype='float32').reshape((3, 3)), stop_gradient=False)

try:
    v8 = paddle.tril(v7, 1)
    print("0: v8 =", v8, "stop_gradient =", getattr(v8, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    v10 = paddle.stack([v8, x9], 2)
    print("1: v10 =", v10, "stop_gradient =", getattr(v10, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    g12, = paddle.grad([v10], [x9], None, create_graph=True)
    print("2: g12 =", g12, "stop_gradient =", getattr(g12, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
print("after: x9 =", x9)
print("after: v7 =", v7)
