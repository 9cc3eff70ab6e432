"""Case 19b36f018e72a8b5, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
r4 = paddle.to_tensor(np.array([1.0, 2.0, 3.0], dtype='float64').reshape((3, 1, 1)), stop_gradient=True)
v2 = paddle.to_tensor(np.array([1.0, 2.0, 3.0], dtype='float64').reshape((3, 1, 1)), stop_gradient=False)

try:
    def called_h3(g):
        print("    h3 saw", g)
        return r4
    h3 = v2.register_hook(called_h3)
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    v8 = paddle.sum(v2, None, keepdim=False)
    print("1: v8 =", v8, "stop_gradient =", getattr(v8, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    paddle.autograd.backward([v8], None)
    print("2: v2.grad =", v2.grad)
except Exception as error:
    print("2:", type(error).__name__, error)
print("after: r4 =", r4)
print("after: v2 =", v2)
