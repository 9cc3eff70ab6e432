"""Case 63c24cfe64f6bc3b, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x3 = paddle.to_tensor(np.array([0.0], dtype='float32').reshape(()), stop_gradient=False)

try:
    v4 = x3.contiguous().view([1])
    print("0: v4 =", v4, "stop_gradient =", getattr(v4, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
print("after: x3 =", x3)
