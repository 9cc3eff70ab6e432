"""Case f9158150d894587e, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x0 = paddle.to_tensor(np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], dtype='float32').reshape((4, 4)), stop_gradient=False)

try:
    v1 = paddle.nn.functional.relu(x0)
    print("0: v1 =", v1, "stop_gradient =", getattr(v1, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    v2 = paddle.nn.functional.relu(v1)
    print("1: v2 =", v2, "stop_gradient =", getattr(v2, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    v3 = paddle.sum(v2, None, keepdim=False)
    print("2: v3 =", v3, "stop_gradient =", getattr(v3, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    def called_h4(g):
        print("    h4 saw", g)
        return g * -3.0
    h4 = x0.register_hook(called_h4)
except Exception as error:
    print("3:", type(error).__name__, error)
try:
    g5, = paddle.grad([v3], [x0], None)
    print("4: g5 =", g5, "stop_gradient =", getattr(g5, "stop_gradient", None))
except Exception as error:
    print("4:", type(error).__name__, error)
print("after: x0 =", x0)
