"""Case 4c320e9e35d57da5, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x = paddle.to_tensor(np.array([2.0, 3.0], dtype='float32').reshape((2,)), stop_gradient=False)
w = paddle.to_tensor(np.array([5.0, 7.0], dtype='float32').reshape((2,)), stop_gradient=False)

try:
    class Function(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x, w):
            f = paddle.multiply(x, w)
            ctx.save_for_backward(x, w)
            return f
        @staticmethod
        def backward(ctx, c):
            x, w, = ctx.saved_tensor()
            print("    y saw", c)
            a = paddle.multiply(c, w)
            b = paddle.multiply(c, x)
            return a, b
    y = Function.apply(x, w)
    print("0: y =", y, "stop_gradient =", getattr(y, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    g, = paddle.grad([y], [x], None)
    print("1: g =", g, "stop_gradient =", getattr(g, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
print("after: x =", x)
print("after: w =", w)
