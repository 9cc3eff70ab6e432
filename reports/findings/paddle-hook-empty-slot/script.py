"""Case 407491d97e07b878, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x12 = paddle.to_tensor(np.array([], dtype='float64').reshape((2, 1, 0)), stop_gradient=False)
s16 = paddle.to_tensor(np.array([], dtype='float64').reshape((1, 0)), stop_gradient=True)

try:
    v13, v14, = paddle.unbind(x12, 0)
    print("0: v13 =", v13, "stop_gradient =", getattr(v13, "stop_gradient", None))
    print("0: v14 =", v14, "stop_gradient =", getattr(v14, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    def called_h15(g):
        print("    h15 saw", g)
        return None
    h15 = v14.register_hook(called_h15)
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    g17, = paddle.grad([v13], [x12], [s16])
    print("2: g17 =", g17, "stop_gradient =", getattr(g17, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
print("after: x12 =", x12)
print("after: s16 =", s16)
