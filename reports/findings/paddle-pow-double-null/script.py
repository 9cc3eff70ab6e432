"""Case 8a76e8f21a4ac7da, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x0 = paddle.to_tensor(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0], dtype='float32').reshape((3, 3)), stop_gradient=False)

try:
    v2 = paddle.pow(x0, 2.0)
    print("0: v2 =", v2, "stop_gradient =", getattr(v2, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    v5 = paddle.unsqueeze(v2, 2)
    print("1: v5 =", v5, "stop_gradient =", getattr(v5, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    v7 = paddle.nn.functional.sigmoid(v5)
    print("2: v7 =", v7, "stop_gradient =", getattr(v7, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    v10 = paddle.pow(v7, -1.0)
    print("3: v10 =", v10, "stop_gradient =", getattr(v10, "stop_gradient", None))
except Exception as error:
    print("3:", type(error).__name__, error)
try:
    g11, = paddle.grad([v10], [x0], None, create_graph=True)
    print("4: g11 =", g11, "stop_gradient =", getattr(g11, "stop_gradient", None))
except Exception as error:
    print("4:", type(error).__name__, error)
try:
    v14 = -1.194 - g11
    print("5: v14 =", v14, "stop_gradient =", getattr(v14, "stop_gradient", None))
except Exception as error:
    print("5:", type(error).__name__, error)
try:
    g15, = paddle.grad([v14], [v5], None)
    print("6: g15 =", g15, "stop_gradient =", getattr(g15, "stop_gradient", None))
except Exception as error:
    print("6:", type(error).__name__, error)
print("after: x0 =", x0)
