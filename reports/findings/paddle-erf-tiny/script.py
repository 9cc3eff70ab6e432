"""Case 790c9c6ae775dbe1, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x = paddle.to_tensor(np.array([1.17549435e-38, 1.17549435e-38, 1.17549435e-38, 1.17549435e-38, 1.17549435e-38, 1.17549435e-38, 1.17549435e-38, 1.17549435e-38, 1.17549435e-38, 1.17549435e-38, 1.17549435e-38, 1.17549435e-38, 1.17549435e-38, 1.17549435e-38, 1.17549435e-38, 1.17549435e-38], dtype='float32').reshape((16,)), stop_gradient=False)

try:
    y = paddle.erf(x)
    print("0: y =", y, "stop_gradient =", getattr(y, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
print("after: x =", x)
