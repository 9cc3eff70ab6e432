"""Case 8628fac8da97047d, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x = paddle.to_tensor(np.array([1.0, 2.0], dtype='float32').reshape((2,)), stop_gradient=False)

try:
    y = paddle.multiply(x, x)
    print("0: y =", y, "stop_gradient =", getattr(y, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    z = paddle.sum(y, None, keepdim=False)
    print("1: z =", z, "stop_gradient =", getattr(z, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    def called_h(g):
        print("    h saw", g)
        return g * 10.0
    h = x.register_hook(called_h)
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    dx, = paddle.grad([z], [x], None)
    print("3: dx =", dx, "stop_gradient =", getattr(dx, "stop_gradient", None))
except Exception as error:
    print("3:", type(error).__name__, error)
print("after: x =", x)
