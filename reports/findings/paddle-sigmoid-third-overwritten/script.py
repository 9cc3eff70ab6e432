"""Case f422d7532906dc4c, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x = paddle.to_tensor(np.array([1.0, 2.0], dtype='float32').reshape((2,)), stop_gradient=False)
s = paddle.to_tensor(np.array([1.0, 1.0], dtype='float32').reshape((2,)), stop_gradient=True)

try:
    y = paddle.nn.functional.sigmoid(x)
    print("0: y =", y, "stop_gradient =", getattr(y, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    g, = paddle.grad([y], [x], [s], create_graph=True)
    print("1: g =", g, "stop_gradient =", getattr(g, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    h, = paddle.grad([g], [x], [s], create_graph=True)
    print("2: h =", h, "stop_gradient =", getattr(h, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    z = paddle.sum(h, None, keepdim=False)
    print("3: z =", z, "stop_gradient =", getattr(z, "stop_gradient", None))
except Exception as error:
    print("3:", type(error).__name__, error)
try:
    paddle.autograd.backward([z], None, retain_graph=True)
    print("4: x.grad =", x.grad)
except Exception as error:
    print("4:", type(error).__name__, error)
try:
    t, = paddle.grad([z], [x], None)
    print("5: t =", t, "stop_gradient =", getattr(t, "stop_gradient", None))
except Exception as error:
    print("5:", type(error).__name__, error)
print("after: x =", x)
print("after: s =", s)
