"""Case ed3d81794bde406e, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x1 = paddle.to_tensor(np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], dtype='float32').reshape((3, 4)), stop_gradient=False)

try:
    v2 = paddle.transpose(x1, [1, 0])
    print("0: v2 =", v2, "stop_gradient =", getattr(v2, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    v3 = paddle.transpose(v2, [1, 0])
    print("1: v3 =", v3, "stop_gradient =", getattr(v3, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    v4 = paddle.transpose(v3, [1, 0])
    print("2: v4 =", v4, "stop_gradient =", getattr(v4, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    class Function(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, v4):
            f6 = paddle.square(v4)
            ctx.save_for_backward(v4)
            return f6
        @staticmethod
        def backward(ctx, c7):
            v4, = ctx.saved_tensor()
            print("    v10 saw", c7)
            b8 = paddle.multiply(c7, v4)
            return b8
    v10 = Function.apply(v4)
    print("3: v10 =", v10, "stop_gradient =", getattr(v10, "stop_gradient", None))
except Exception as error:
    print("3:", type(error).__name__, error)
try:
    v4.stop_gradient = True
    print("4: v4 =", v4, "stop_gradient =", getattr(v4, "stop_gradient", None))
except Exception as error:
    print("4:", type(error).__name__, error)
try:
    g15, = paddle.grad([v10], [x1], None, create_graph=True)
    print("5: g15 =", g15, "stop_gradient =", getattr(g15, "stop_gradient", None))
except Exception as error:
    print("5:", type(error).__name__, error)
try:
    g17, = paddle.grad([g15], [x1], None, allow_unused=True)
    print("6: g17 =", g17, "stop_gradient =", getattr(g17, "stop_gradient", None))
except Exception as error:
    print("6:", type(error).__name__, error)
print("after: x1 =", x1)
