"""Case f1e4c592597b89cb, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x = paddle.to_tensor(np.array([2.0, 3.0], dtype='float32').reshape((2,)), stop_gradient=False)

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
    paddle.autograd.backward([y], None, retain_graph=True)
    print("1: x.grad =", x.grad)
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    paddle.autograd.backward([y], None)
    print("2: x.grad =", x.grad)
except Exception as error:
    print("2:", type(error).__name__, error)
print("after: x =", x)
