"""Case 78594284aa4af8d3, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x0 = paddle.to_tensor(np.array([0.0, 1.5], dtype='float32').reshape((2,)), stop_gradient=False)

try:
    v1 = paddle.nn.functional.relu(x0)
    print("0: v1 =", v1, "stop_gradient =", getattr(v1, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    class Function(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, v1, x0):
            f2 = paddle.multiply(v1, x0)
            f3 = paddle.subtract(f2, v1)
            f4 = paddle.clone(f3)
            ctx.save_for_backward(f3, f4)
            return f4
        @staticmethod
        def backward(ctx, c5):
            f3, f4, = ctx.saved_tensor()
            print("    v10 saw", c5)
            b6 = c5 + 1.0
            b7 = -1.0 - b6
            b8 = paddle.multiply(c5, b6)
            b9 = paddle.multiply(b8, f3)
            return b7, b9
    v10 = Function.apply(v1, x0)
    print("1: v10 =", v10, "stop_gradient =", getattr(v10, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    def called_h18(g):
        print("    h18 saw", g)
        return g * -1.0
    h18 = v10.register_hook(called_h18)
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    v38 = paddle.masked_fill(v10, paddle.to_tensor([False, False]), 1.5)
    print("3: v38 =", v38, "stop_gradient =", getattr(v38, "stop_gradient", None))
except Exception as error:
    print("3:", type(error).__name__, error)
try:
    g40, = paddle.grad([v38], [x0], None)
    print("4: g40 =", g40, "stop_gradient =", getattr(g40, "stop_gradient", None))
except Exception as error:
    print("4:", type(error).__name__, error)
print("after: x0 =", x0)
