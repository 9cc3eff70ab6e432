"""Case 2403b91846edb099, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x1 = paddle.to_tensor(np.array([1.0, 2.0, 3.0, 4.0], dtype='float32').reshape((2, 2)), stop_gradient=False)

try:
    v3 = paddle.sum(x1, None, keepdim=False)
    print("0: v3 =", v3, "stop_gradient =", getattr(v3, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    g5, = paddle.grad([v3], [x1], None, no_grad_vars=[x1])
    print("1: g5 =", g5, "stop_gradient =", getattr(g5, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
print("after: x1 =", x1)
