"""Case dfe4daf2296704d6, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x1 = paddle.to_tensor(np.array([], dtype='float32').reshape((0, 2)), stop_gradient=False)
s4 = paddle.to_tensor(np.array([], dtype='float32').reshape((0, 2, 2)), stop_gradient=True)

try:
    paddle.autograd.backward([x1], [s4])
    print("0: x1.grad =", x1.grad)
except Exception as error:
    print("0:", type(error).__name__, error)
print("after: x1 =", x1)
print("after: s4 =", s4)
