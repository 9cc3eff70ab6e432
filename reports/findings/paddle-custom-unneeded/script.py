"""Case c822b15b6053f20d, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x = paddle.to_tensor(np.array([2.0, 3.0], dtype='float32').reshape((2,)), stop_gradient=False)
w = paddle.to_tensor(np.array([5.0, 7.0], dtype='float32').reshape((2,)), stop_gradient=False)

try:
    class Function(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x):
            f = paddle.multiply(x, x)
            ctx.save_for_backward(x)
            return f
        @staticmethod
        def backward(ctx, c):
            x, = ctx.saved_tensor()
            print("    y saw", c)
            a = paddle.multiply(c, x)
            b = a * 2.0
            return b
    y = Function.apply(x)
    print("0: y =", y, "stop_gradient =", getattr(y, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    z = paddle.concat([y, w], 0)
    print("1: z =", z, "stop_gradient =", getattr(z, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    t = paddle.concat([z, x], 0)
    print("2: t =", t, "stop_gradient =", getattr(t, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    g, = paddle.grad([t], [w], None)
    print("3: g =", g, "stop_gradient =", getattr(g, "stop_gradient", None))
except Exception as error:
    print("3:", type(error).__name__, error)
print("after: x =", x)
print("after: w =", w)
