"""Case 9d27df5bdccd7459, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x0 = paddle.to_tensor(np.array([1.0, 2.0, 3.0], dtype='float32').reshape((3, 1)), stop_gradient=False)

try:
    v1 = paddle.unsqueeze(x0, 0)
    print("0: v1 =", v1, "stop_gradient =", getattr(v1, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    v2 = paddle.nn.functional.sigmoid(v1)
    print("1: v2 =", v2, "stop_gradient =", getattr(v2, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    v7 = paddle.nn.functional.sigmoid(v2)
    print("2: v7 =", v7, "stop_gradient =", getattr(v7, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    v10 = paddle.sum(v7, None, keepdim=False)
    print("3: v10 =", v10, "stop_gradient =", getattr(v10, "stop_gradient", None))
except Exception as error:
    print("3:", type(error).__name__, error)
try:
    g11, = paddle.grad([v10], [x0], None, create_graph=True)
    print("4: g11 =", g11, "stop_gradient =", getattr(g11, "stop_gradient", None))
except Exception as error:
    print("4:", type(error).__name__, error)
try:
    v13 = paddle.multiply(g11, v2)
    print("5: v13 =", v13, "stop_gradient =", getattr(v13, "stop_gradient", None))
except Exception as error:
    print("5:", type(error).__name__, error)
try:
    v14 = paddle.sum(v13, None, keepdim=False)
    print("6: v14 =", v14, "stop_gradient =", getattr(v14, "stop_gradient", None))
except Exception as error:
    print("6:", type(error).__name__, error)
try:
    g16, g17, = paddle.grad([v14], [g11, v7], None)
    print("7: g16 =", g16, "stop_gradient =", getattr(g16, "stop_gradient", None))
    print("7: g17 =", g17, "stop_gradient =", getattr(g17, "stop_gradient", None))
except Exception as error:
    print("7:", type(error).__name__, error)
print("after: x0 =", x0)
