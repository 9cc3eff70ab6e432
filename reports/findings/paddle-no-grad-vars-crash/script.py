"""Case c9c25e20b1b61728, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x0 = paddle.to_tensor(np.array([], dtype='float32').reshape((0, 3)), stop_gradient=False)

try:
    v2 = paddle.clone(x0)
    print("0: v2 =", v2, "stop_gradient =", getattr(v2, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    g8, = paddle.grad([v2], [x0], None, no_grad_vars=[x0])
    print("1: g8 =", g8, "stop_gradient =", getattr(g8, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
print("after: x0 =", x0)
