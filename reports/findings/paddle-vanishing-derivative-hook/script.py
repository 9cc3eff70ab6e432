"""Case d717b8a88de53999, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x = paddle.to_tensor(np.array([1.0, 2.0], dtype='float32').reshape((2,)), stop_gradient=False)
c = paddle.to_tensor(np.array([2.0, 4.0], dtype='float32').reshape((2,)), stop_gradient=True)

try:
    y = paddle.divide(x, c)
    print("0: y =", y, "stop_gradient =", getattr(y, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    def called_h(g):
        print("    h saw", g)
        return None
    h = y.register_hook(called_h)
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    g, = paddle.grad([y], [x], [c], create_graph=True)
    print("2: g =", g, "stop_gradient =", getattr(g, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    z = paddle.multiply(g, x)
    print("3: z =", z, "stop_gradient =", getattr(z, "stop_gradient", None))
except Exception as error:
    print("3:", type(error).__name__, error)
try:
    k, = paddle.grad([z], [x], [c])
    print("4: k =", k, "stop_gradient =", getattr(k, "stop_gradient", None))
except Exception as error:
    print("4:", type(error).__name__, error)
print("after: x =", x)
print("after: c =", c)
