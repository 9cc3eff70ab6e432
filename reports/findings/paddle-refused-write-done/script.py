"""Case 49b07040622c9da9, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x = paddle.to_tensor(np.array([1.0, 2.0], dtype='float32').reshape((2,)), stop_gradient=False)

try:
    x.scale_(3.0)
    print("0: x =", x, "stop_gradient =", getattr(x, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
print("after: x =", x)
