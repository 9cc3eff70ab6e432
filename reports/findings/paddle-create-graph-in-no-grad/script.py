"""Case 54162723256f676b, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x0 = paddle.to_tensor(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], dtype='float32').reshape((2, 3)), stop_gradient=False)
x5 = paddle.to_tensor(np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], dtype='float32').reshape((2, 6)), stop_gradient=False)
x6 = paddle.to_tensor(np.array([1.0, 2.0], dtype='float32').reshape((2,)), stop_gradient=False)
s11 = paddle.to_tensor(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], dtype='float32').reshape((4, 2)), stop_gradient=False)

try:
    v1 = paddle.tile(x0, [2, 2])
    print("0: v1 =", v1, "stop_gradient =", getattr(v1, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    v7 = paddle.nn.functional.linear(v1, paddle.t(x5), x6)
    print("1: v7 =", v7, "stop_gradient =", getattr(v7, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    g8, = paddle.grad([v7], [x5], [s11], create_graph=True)
    print("2: g8 =", g8, "stop_gradient =", getattr(g8, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    with paddle.no_grad():
        g13, = paddle.grad([g8], [x0], None, create_graph=True)
    print("3: g13 =", g13, "stop_gradient =", getattr(g13, "stop_gradient", None))
except Exception as error:
    print("3:", type(error).__name__, error)
try:
    paddle.autograd.backward([g13], None)
    print("4: x0.grad =", x0.grad)
    print("4: x5.grad =", x5.grad)
    print("4: x6.grad =", x6.grad)
    print("4: s11.grad =", s11.grad)
except Exception as error:
    print("4:", type(error).__name__, error)
print("after: x0 =", x0)
print("after: x5 =", x5)
print("after: x6 =", x6)
print("after: s11 =", s11)
