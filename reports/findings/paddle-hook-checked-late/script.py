"""Case 58589e02abaeef75, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x0 = paddle.to_tensor(np.array([2.0, 1.0], dtype='float32').reshape((2,)), stop_gradient=False)

try:
    v2 = paddle.mean(x0, [0], keepdim=False)
    print("0: v2 =", v2, "stop_gradient =", getattr(v2, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    v3 = paddle.mean(v2, None, keepdim=True)
    print("1: v3 =", v3, "stop_gradient =", getattr(v3, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    def called_h4(g):
        print("    h4 saw", g)
        return g.cast('float64' if g.dtype == paddle.float32 else 'float32')
    h4 = v2.register_hook(called_h4)
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    v2.retain_grads()
except Exception as error:
    print("3:", type(error).__name__, error)
try:
    g8, = paddle.grad([v3], [x0], None)
    print("4: g8 =", g8, "stop_gradient =", getattr(g8, "stop_gradient", None))
    print("4: x0.grad =", x0.grad)
    print("4: v2.grad =", v2.grad)
except Exception as error:
    print("4:", type(error).__name__, error)
print("after: x0 =", x0)
