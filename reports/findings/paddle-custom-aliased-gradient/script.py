"""Case f9a35f357b597ce7, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x = paddle.to_tensor(np.array([2.0, 3.0], dtype='float32').reshape((2,)), stop_gradient=False)
w = paddle.to_tensor(np.array([5.0, 7.0], dtype='float32').reshape((2,)), stop_gradient=False)

try:
    class Function(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x, w):
            f = paddle.add(x, w)
            ctx.save_for_backward()
            return f
        @staticmethod
        def backward(ctx, c):
            print("    y saw", c)
            return c, c
    y = Function.apply(x, w)
    print("0: y =", y, "stop_gradient =", getattr(y, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    paddle.autograd.backward([y], None)
    print("1: x.grad =", x.grad)
    print("1: w.grad =", w.grad)
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    z = paddle.add(x, w)
    print("2: z =", z, "stop_gradient =", getattr(z, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    paddle.autograd.backward([z], None)
    print("3: x.grad =", x.grad)
    print("3: w.grad =", w.grad)
except Exception as error:
    print("3:", type(error).__name__, error)
print("after: x =", x)
print("after: w =", w)
