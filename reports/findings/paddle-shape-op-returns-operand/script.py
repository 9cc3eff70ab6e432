"""Case d25d7a6e1b9f7fd2, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x1 = paddle.to_tensor(np.array([1.0], dtype='float32').reshape((1, 1)), stop_gradient=False)

try:
    with paddle.no_grad():
        v2 = x1[tuple((slice(*k) for k in [[0, 1, 1]]))]
    print("0: v2 =", v2, "stop_gradient =", getattr(v2, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
print("after: x1 =", x1)
