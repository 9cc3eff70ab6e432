"""Case d7e09bfb8020e7ae, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x = paddle.to_tensor(np.array([2.5e+38, 2.5e+38, 2.5e+38, 2.5e+38, 2.5e+38, 2.5e+38, 2.5e+38, 2.5e+38, 2.5e+38, 2.5e+38, 2.5e+38, 2.5e+38, 2.5e+38, 2.5e+38, 2.5e+38, 2.5e+38], dtype='float32').reshape((16,)), stop_gradient=False)

try:
    y = paddle.nn.functional.gelu(x)
    print("0: y =", y, "stop_gradient =", getattr(y, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
print("after: x =", x)
