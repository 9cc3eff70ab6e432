"""Case c2236e24da169141, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x0 = paddle.to_tensor(np.array([], dtype='float32').reshape((0, 3)), stop_gradient=False)
s4 = paddle.to_tensor(np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], dtype='float32').reshape((2, 6)), stop_gradient=False)

try:
    v2 = paddle.nn.functional.pad(x0, [n for p in zip([1, 2], [1, 1]) for n in p], value=1.135)
    print("0: v2 =", v2, "stop_gradient =", getattr(v2, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    g3, = paddle.grad([v2], [x0], [s4], create_graph=True)
    print("1: g3 =", g3, "stop_gradient =", getattr(g3, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    paddle.autograd.backward([g3], None)
    print("2: x0.grad =", x0.grad)
    print("2: s4.grad =", s4.grad)
except Exception as error:
    print("2:", type(error).__name__, error)
print("after: x0 =", x0)
print("after: s4 =", s4)
