"""Case 9954f83576a70067, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x = paddle.to_tensor(np.array([2.0, 3.0], dtype='float32').reshape((2,)), stop_gradient=False)

try:
    v = paddle.multiply(x, x)
    print("0: v =", v, "stop_gradient =", getattr(v, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    class Function(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, v, v_1):
            f = v * 2.0
            ctx.save_for_backward()
            return f
        @staticmethod
        def backward(ctx, c):
            print("    y saw", c)
            return c, c
    y = Function.apply(v, v)
    print("1: y =", y, "stop_gradient =", getattr(y, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    z = paddle.square(y)
    print("2: z =", z, "stop_gradient =", getattr(z, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    g, h, = paddle.grad([z], [x, y], None)
    print("3: g =", g, "stop_gradient =", getattr(g, "stop_gradient", None))
    print("3: h =", h, "stop_gradient =", getattr(h, "stop_gradient", None))
except Exception as error:
    print("3:", type(error).__name__, error)
print("after: x =", x)
