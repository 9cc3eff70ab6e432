"""Case 76f8c70ef69401a4, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
r8 = paddle.to_tensor(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], dtype='float32').reshape((1, 3, 2)), stop_gradient=True)
v4 = paddle.to_tensor(np.array([1.0, 2.0, 3.0], dtype='float32').reshape((1, 3)), stop_gradient=False)

try:
    v5 = paddle.transpose(v4, [0, 1]).contiguous()
    print("0: v5 =", v5, "stop_gradient =", getattr(v5, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    def called_h7(g):
        print("    h7 saw", g)
        return r8
    h7 = v4.register_hook(called_h7)
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    paddle.autograd.backward([v5], None)
    print("2: v4.grad =", v4.grad)
except Exception as error:
    print("2:", type(error).__name__, error)
print("after: r8 =", r8)
print("after: v4 =", v4)
