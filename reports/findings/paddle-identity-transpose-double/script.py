"""Case 5d777b40cc42e125, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x6 = paddle.to_tensor(np.array([1.0, 3.0, 1.0, 1.0, 2.0, 1.0, 2.0, 2.0, 1.0], dtype='float32').reshape((3, 3)), stop_gradient=False)

try:
    v7 = paddle.sqrt(x6)
    print("0: v7 =", v7, "stop_gradient =", getattr(v7, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    v10 = paddle.transpose(v7, [0, 1])
    print("1: v10 =", v10, "stop_gradient =", getattr(v10, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    v14 = paddle.sqrt(v10)
    print("2: v14 =", v14, "stop_gradient =", getattr(v14, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    g16, = paddle.grad([v14], [x6], None, create_graph=True)
    print("3: g16 =", g16, "stop_gradient =", getattr(g16, "stop_gradient", None))
except Exception as error:
    print("3:", type(error).__name__, error)
try:
    g19, = paddle.grad([g16], [x6], None)
    print("4: g19 =", g19, "stop_gradient =", getattr(g19, "stop_gradient", None))
except Exception as error:
    print("4:", type(error).__name__, error)
print("after: x6 =", x6)
