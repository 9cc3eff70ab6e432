"""Case 2aba2c513a0c5444, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x0 = paddle.to_tensor(np.array([0.0], dtype='float32').reshape(()), stop_gradient=False)
s3 = paddle.to_tensor(np.array([1.0], dtype='float32').reshape(()), stop_gradient=True)

try:
    g2, = paddle.grad([x0], [x0], [s3], create_graph=True)
    print("0: g2 =", g2, "stop_gradient =", getattr(g2, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    v4 = paddle.nn.functional.softplus(s3, 2.0)
    print("1: v4 =", v4, "stop_gradient =", getattr(v4, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
print("after: x0 =", x0)
print("after: s3 =", s3)
