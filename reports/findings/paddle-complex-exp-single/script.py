"""Case 8d010e6fb3ad3aaa, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
z = paddle.to_tensor(np.array([(1+1j)], dtype='complex128').reshape((1,)), stop_gradient=False)

try:
    y = paddle.exp(z)
    print("0: y =", y, "stop_gradient =", getattr(y, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
print("after: z =", z)
