"""Case ac8774876750cf1e, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x = paddle.to_tensor(np.array([2.0, 3.0], dtype='float32').reshape((2,)), stop_gradient=False)

try:
    class Function(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x):
            f = x * 2.0
            ctx.save_for_backward()
            return f
        @staticmethod
        def backward(ctx, c):
            print("    y saw", c)
            b = paddle.sum(c, None, keepdim=False)
            return b
    y = Function.apply(x)
    print("0: y =", y, "stop_gradient =", getattr(y, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    g, = paddle.grad([y], [x], None)
    print("1: g =", g, "stop_gradient =", getattr(g, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
print("after: x =", x)
