"""Case c4629aaa04af3f99, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
v4 = paddle.to_tensor(np.array([], dtype='float64').reshape((0, 4)), stop_gradient=True)
v3 = paddle.to_tensor(np.array([], dtype='float64').reshape((0, 4)), stop_gradient=False)

try:
    v5 = paddle.stack([v3, v4], 2)
    print("0: v5 =", v5, "stop_gradient =", getattr(v5, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    paddle.autograd.backward([v5], None)
    print("1: v3.grad =", v3.grad)
except Exception as error:
    print("1:", type(error).__name__, error)
print("after: v4 =", v4)
print("after: v3 =", v3)
