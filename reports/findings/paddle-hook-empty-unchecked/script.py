"""Case 92f0a81b97881e8e, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
v7 = paddle.to_tensor(np.array([], dtype='float32').reshape((0, 1)), stop_gradient=False)

try:
    def called_h9(g):
        print("    h9 saw", g)
        return g.cast('float64' if g.dtype == paddle.float32 else 'float32')
    h9 = v7.register_hook(called_h9)
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    paddle.autograd.backward([v7], None)
    print("1: v7.grad =", v7.grad)
except Exception as error:
    print("1:", type(error).__name__, error)
print("after: v7 =", v7)
