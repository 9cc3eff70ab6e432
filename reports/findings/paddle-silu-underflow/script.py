"""Case 1d13c276d482f13e, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x = paddle.to_tensor(np.array([-89.7228394, -89.7228394, -89.7228394, -89.7228394, -89.7228394, -89.7228394, -89.7228394, -89.7228394, -89.7228394, -89.7228394, -89.7228394, -89.7228394, -89.7228394, -89.7228394, -89.7228394, -89.7228394], dtype='float32').reshape((16,)), stop_gradient=False)

try:
    y = paddle.nn.functional.silu(x)
    print("0: y =", y, "stop_gradient =", getattr(y, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
print("after: x =", x)
