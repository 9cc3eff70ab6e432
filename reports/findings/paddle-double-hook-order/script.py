"""Case 840b12f3964ff8f8, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x0 = paddle.to_tensor(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], dtype='float32').reshape((2, 3, 1)), stop_gradient=False)
x6 = paddle.to_tensor(np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], dtype='float32').reshape((5, 3, 3)), stop_gradient=False)
x8 = paddle.to_tensor(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], dtype='float32').reshape((3, 2)), stop_gradient=False)
x12 = paddle.to_tensor(np.array([1.0, 2.0, 3.0, 4.0], dtype='float32').reshape((2, 2)), stop_gradient=False)

try:
    v1 = paddle.nn.functional.pad(x0, [n for p in zip([2, 2, 0], [0, 1, 1]) for n in p], value=0.741)
    print("0: v1 =", v1, "stop_gradient =", getattr(v1, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    v4 = paddle.nn.functional.pad(v1, [n for p in zip([1, 2, 0], [0, 0, 1]) for n in p], value=1.866)
    print("1: v4 =", v4, "stop_gradient =", getattr(v4, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    v7 = paddle.matmul(v4, x6)
    print("2: v7 =", v7, "stop_gradient =", getattr(v7, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    v9 = paddle.matmul(v7, x8)
    print("3: v9 =", v9, "stop_gradient =", getattr(v9, "stop_gradient", None))
except Exception as error:
    print("3:", type(error).__name__, error)
try:
    def called_h11(g):
        print("    h11 saw", g)
        return None
    h11 = x0.register_hook(called_h11)
except Exception as error:
    print("4:", type(error).__name__, error)
try:
    v13 = paddle.matmul(v9, x12)
    print("5: v13 =", v13, "stop_gradient =", getattr(v13, "stop_gradient", None))
except Exception as error:
    print("5:", type(error).__name__, error)
try:
    def called_h16(g):
        print("    h16 saw", g)
        return None
    h16 = x8.register_hook(called_h16)
except Exception as error:
    print("6:", type(error).__name__, error)
try:
    g18, = paddle.grad([v13], [x6], None, create_graph=True)
    print("7: g18 =", g18, "stop_gradient =", getattr(g18, "stop_gradient", None))
except Exception as error:
    print("7:", type(error).__name__, error)
try:
    v24 = paddle.sum(g18, None, keepdim=False)
    print("8: v24 =", v24, "stop_gradient =", getattr(v24, "stop_gradient", None))
except Exception as error:
    print("8:", type(error).__name__, error)
try:
    paddle.autograd.backward((v24,), None, dump_backward_graph_path='dump')
    print("9: x0.grad =", x0.grad)
    print("9: x6.grad =", x6.grad)
    print("9: x8.grad =", x8.grad)
    print("9: x12.grad =", x12.grad)
except Exception as error:
    print("9:", type(error).__name__, error)
print("after: x0 =", x0)
print("after: x6 =", x6)
print("after: x8 =", x8)
print("after: x12 =", x12)
