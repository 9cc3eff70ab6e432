"""Case 9619f898c14ae074, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x0 = paddle.to_tensor(np.array([1.0, 2.0], dtype='float64').reshape((1, 2)), stop_gradient=False)

try:
    g4, = paddle.grad([x0], [x0], None, create_graph=True)
    print("0: g4 =", g4, "stop_gradient =", getattr(g4, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    paddle.autograd.backward([g4], None)
    print("1: x0.grad =", x0.grad)
    print("1: g4.grad =", g4.grad)
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    v6 = paddle.sum(g4, None, keepdim=False)
    print("2: v6 =", v6, "stop_gradient =", getattr(v6, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    g14, = paddle.grad([v6], [g4], None, materialize_grads=True)
    print("3: g14 =", g14, "stop_gradient =", getattr(g14, "stop_gradient", None))
except Exception as error:
    print("3:", type(error).__name__, error)
try:
    v16 = paddle.transpose(g14, [1, 0])
    print("4: v16 =", v16, "stop_gradient =", getattr(v16, "stop_gradient", None))
except Exception as error:
    print("4:", type(error).__name__, error)
try:
    paddle.autograd.backward([v16], None, inputs=[g4])
    print("5: x0.grad =", x0.grad)
    print("5: g4.grad =", g4.grad)
except Exception as error:
    print("5:", type(error).__name__, error)
print("after: x0 =", x0)
