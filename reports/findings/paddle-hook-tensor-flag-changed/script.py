"""Case b57d47dc16e9bc0d, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x0 = paddle.to_tensor(np.array([1.0, 2.0, 3.0, 4.0], dtype='float32').reshape((4,)), stop_gradient=False)
r15 = paddle.to_tensor(np.array([1.0, 2.0, 3.0, 4.0], dtype='float64').reshape((4,)), stop_gradient=True)

try:
    g5, = paddle.grad([x0], [x0], None, create_graph=True)
    print("0: g5 =", g5, "stop_gradient =", getattr(g5, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    v8 = paddle.cast(g5, 'float64')
    print("1: v8 =", v8, "stop_gradient =", getattr(v8, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    v12, v13, = paddle.split(v8, [2, 2], 0)
    print("2: v12 =", v12, "stop_gradient =", getattr(v12, "stop_gradient", None))
    print("2: v13 =", v13, "stop_gradient =", getattr(v13, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    def called_h14(g):
        print("    h14 saw", g)
        return r15
    h14 = v8.register_hook(called_h14)
except Exception as error:
    print("3:", type(error).__name__, error)
try:
    g17, = paddle.grad([v13], [v8], None, create_graph=True)
    print("4: g17 =", g17, "stop_gradient =", getattr(g17, "stop_gradient", None))
except Exception as error:
    print("4:", type(error).__name__, error)
try:
    v20 = paddle.index_select(r15, paddle.to_tensor([2]), -1)
    print("5: v20 =", v20, "stop_gradient =", getattr(v20, "stop_gradient", None))
except Exception as error:
    print("5:", type(error).__name__, error)
print("after: x0 =", x0)
print("after: r15 =", r15)
