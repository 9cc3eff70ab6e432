"""Case b02aee43422d28f5, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
v3 = paddle.to_tensor(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0], dtype='float64').reshape((2, 3, 2)), stop_gradient=False)

try:
    class Function(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, v3):
            f6 = paddle.multiply(v3, v3)
            ctx.save_for_backward()
            return f6
        @staticmethod
        def backward(ctx, c8):
            print("    v10 saw", c8)
            return c8
    v10 = Function.apply(v3)
    print("0: v10 =", v10, "stop_gradient =", getattr(v10, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    v11 = paddle.nn.functional.softmax(v10, -2)
    print("1: v11 =", v11, "stop_gradient =", getattr(v11, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
print("after: v3 =", v3)
