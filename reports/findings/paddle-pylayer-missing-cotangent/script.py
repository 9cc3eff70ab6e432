"""Case ea069902b5b2d787, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x1 = paddle.to_tensor(np.array([1.0, 2.0, 3.0, 4.0], dtype='float32').reshape((2, 2)), stop_gradient=False)

try:
    v2 = paddle.logsumexp(x1, 0, keepdim=True)
    print("0: v2 =", v2, "stop_gradient =", getattr(v2, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    v3 = paddle.logsumexp(v2, -2, keepdim=False)
    print("1: v3 =", v3, "stop_gradient =", getattr(v3, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    v5 = paddle.nn.functional.silu(v3)
    print("2: v5 =", v5, "stop_gradient =", getattr(v5, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    class Function(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, v5, v3, v5_2):
            f8 = paddle.multiply(v3, v3)
            f9 = paddle.subtract(v3, f8)
            ctx.save_for_backward()
            return f8, f9
        @staticmethod
        def backward(ctx, c10, c11):
            print("    v19 saw", c10)
            print("    v20 saw", c11)
            return c10, c10, c11
    v19, v20, = Function.apply(v5, v3, v5)
    print("3: v19 =", v19, "stop_gradient =", getattr(v19, "stop_gradient", None))
    print("3: v20 =", v20, "stop_gradient =", getattr(v20, "stop_gradient", None))
except Exception as error:
    print("3:", type(error).__name__, error)
try:
    def called_h23(g):
        print("    h23 saw", g)
        return None
    h23 = v19.register_hook(called_h23)
except Exception as error:
    print("4:", type(error).__name__, error)
try:
    g26, = paddle.grad([v20], [x1], None)
    print("5: g26 =", g26, "stop_gradient =", getattr(g26, "stop_gradient", None))
except Exception as error:
    print("5:", type(error).__name__, error)
print("after: x1 =", x1)
