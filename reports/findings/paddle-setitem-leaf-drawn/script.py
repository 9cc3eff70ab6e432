"""Case f8415f9ceb2bf32c, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x1 = paddle.to_tensor(np.array([1.0, 2.0, 3.0, 4.0], dtype='float64').reshape((1, 4)), stop_gradient=True)
x2 = paddle.to_tensor(np.array([2.0], dtype='float64').reshape((1, 1)), stop_gradient=False)

try:
    v3 = (lambda out: out.__setitem__(tuple((slice(*k) for k in [[0, 1, 2], [3, 4, 2]])), x2) or out)(paddle.clone(x1))
    print("0: v3 =", v3, "stop_gradient =", getattr(v3, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    paddle.autograd.backward([v3], None, dump_backward_graph_path='dump')
    print("1: x2.grad =", x2.grad)
except Exception as error:
    print("1:", type(error).__name__, error)
print("after: x1 =", x1)
print("after: x2 =", x2)
