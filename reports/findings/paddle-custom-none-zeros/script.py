"""Case 043a2ee08e5d1d87, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x = paddle.to_tensor(np.array([2.0, 3.0], dtype='float32').reshape((2,)), stop_gradient=False)

try:
    h = paddle.multiply(x, x)
    print("0: h =", h, "stop_gradient =", getattr(h, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    class Function(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, h):
            f = h * 2.0
            ctx.save_for_backward()
            return f
        @staticmethod
        def backward(ctx, c):
            print("    y saw", c)
            return None
    y = Function.apply(h)
    print("1: y =", y, "stop_gradient =", getattr(y, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    g, = paddle.grad([y], [x], None, allow_unused=True)
    print("2: g =", g, "stop_gradient =", getattr(g, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
print("after: x =", x)
