"""Case 4a0294df7f44f131, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x1 = paddle.to_tensor(np.array([], dtype='float32').reshape((3, 0, 3)), stop_gradient=False)

try:
    v2 = x1.contiguous().view([0])
    print("0: v2 =", v2, "stop_gradient =", getattr(v2, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
print("after: x1 =", x1)
