"""Case f005e86a294be9de, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x = paddle.to_tensor(np.array([nan], dtype='float32').reshape((1,)), stop_gradient=False)

try:
    y = paddle.nn.functional.relu(x)
    print("0: y =", y, "stop_gradient =", getattr(y, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
print("after: x =", x)
