"""Case 1cab920e48f39e46, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x0 = paddle.to_tensor(np.array([], dtype='float32').reshape((2, 2, 0)), stop_gradient=False)
y0 = paddle.to_tensor(np.array([], dtype='float32').reshape((2, 0, 2)), stop_gradient=False)
x1 = paddle.to_tensor(np.array([], dtype='float32').reshape((3, 3, 0)), stop_gradient=False)
y1 = paddle.to_tensor(np.array([], dtype='float32').reshape((3, 0, 3)), stop_gradient=False)
x2 = paddle.to_tensor(np.array([], dtype='float32').reshape((2, 4, 0)), stop_gradient=False)
y2 = paddle.to_tensor(np.array([], dtype='float32').reshape((2, 0, 4)), stop_gradient=False)
x3 = paddle.to_tensor(np.array([], dtype='float32').reshape((4, 4, 0)), stop_gradient=False)
y3 = paddle.to_tensor(np.array([], dtype='float32').reshape((4, 0, 4)), stop_gradient=False)
x4 = paddle.to_tensor(np.array([], dtype='float32').reshape((2, 5, 0)), stop_gradient=False)
y4 = paddle.to_tensor(np.array([], dtype='float32').reshape((2, 0, 5)), stop_gradient=False)
x5 = paddle.to_tensor(np.array([], dtype='float32').reshape((3, 6, 0)), stop_gradient=False)
y5 = paddle.to_tensor(np.array([], dtype='float32').reshape((3, 0, 6)), stop_gradient=False)
x6 = paddle.to_tensor(np.array([], dtype='float32').reshape((1, 3, 0)), stop_gradient=False)
y6 = paddle.to_tensor(np.array([], dtype='float32').reshape((1, 0, 3)), stop_gradient=False)
x7 = paddle.to_tensor(np.array([], dtype='float32').reshape((1, 4, 0)), stop_gradient=False)
y7 = paddle.to_tensor(np.array([], dtype='float32').reshape((1, 0, 4)), stop_gradient=False)

try:
    v0 = paddle.bmm(x0, y0)
    print("0: v0 =", v0, "stop_gradient =", getattr(v0, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    v1 = paddle.bmm(x1, y1)
    print("1: v1 =", v1, "stop_gradient =", getattr(v1, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    v2 = paddle.bmm(x2, y2)
    print("2: v2 =", v2, "stop_gradient =", getattr(v2, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    v3 = paddle.bmm(x3, y3)
    print("3: v3 =", v3, "stop_gradient =", getattr(v3, "stop_gradient", None))
except Exception as error:
    print("3:", type(error).__name__, error)
try:
    v4 = paddle.bmm(x4, y4)
    print("4: v4 =", v4, "stop_gradient =", getattr(v4, "stop_gradient", None))
except Exception as error:
    print("4:", type(error).__name__, error)
try:
    v5 = paddle.bmm(x5, y5)
    print("5: v5 =", v5, "stop_gradient =", getattr(v5, "stop_gradient", None))
except Exception as error:
    print("5:", type(error).__name__, error)
try:
    v6 = paddle.bmm(x6, y6)
    print("6: v6 =", v6, "stop_gradient =", getattr(v6, "stop_gradient", None))
except Exception as error:
    print("6:", type(error).__name__, error)
try:
    v7 = paddle.bmm(x7, y7)
    print("7: v7 =", v7, "stop_gradient =", getattr(v7, "stop_gradient", None))
except Exception as error:
    print("7:", type(error).__name__, error)
print("after: x0 =", x0)
print("after: y0 =", y0)
print("after: x1 =", x1)
print("after: y1 =", y1)
print("after: x2 =", x2)
print("after: y2 =", y2)
print("after: x3 =", x3)
print("after: y3 =", y3)
print("after: x4 =", x4)
print("after: y4 =", y4)
print("after: x5 =", x5)
print("after: y5 =", y5)
print("after: x6 =", x6)
print("after: y6 =", y6)
print("after: x7 =", x7)
print("after: y7 =", y7)
