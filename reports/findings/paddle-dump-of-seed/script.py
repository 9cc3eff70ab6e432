"""Case e16fc052f6aad746, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x = paddle.to_tensor(np.array([3.0], dtype='float32').reshape(()), stop_gradient=False)

try:
    g, = paddle.grad([x], [x], None, create_graph=True)
    print("0: g =", g, "stop_gradient =", getattr(g, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    paddle.autograd.backward([g], None, dump_backward_graph_path='dump')
    print("1: x.grad =", x.grad)
except Exception as error:
    print("1:", type(error).__name__, error)
print("after: x =", x)
