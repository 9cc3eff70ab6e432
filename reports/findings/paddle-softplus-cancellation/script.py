"""Case 43d23627ef4bb08f, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
v6 = paddle.to_tensor(np.array([4.0, -5.0, -3.0], dtype='float32').reshape((3,)), stop_gradient=False)

try:
    v9 = paddle.nn.functional.softplus(v6, 2.0)
    print("0: v9 =", v9, "stop_gradient =", getattr(v9, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
print("after: v6 =", v6)
