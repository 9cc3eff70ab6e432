"""Case 0cf4a706edd5a54f, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x = paddle.to_tensor(np.array([2.0, 3.0], dtype='float32').reshape((2,)), stop_gradient=False)

try:
    h = x * 3.0
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
    paddle.autograd.backward([y], None)
    print("2: x.grad =", x.grad)
except Exception as error:
    print("2:", type(error).__name__, error)
print("after: x =", x)
