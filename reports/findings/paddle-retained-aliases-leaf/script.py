"""Case 1cb2af70ba554046, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x0 = paddle.to_tensor(np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], dtype='float32').reshape((4, 3)), stop_gradient=False)

try:
    v2 = paddle.transpose(x0, [1, 0]).contiguous()
    print("0: v2 =", v2, "stop_gradient =", getattr(v2, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    v4 = paddle.clip(v2, -1.5, 1.5)
    print("1: v4 =", v4, "stop_gradient =", getattr(v4, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    v2.retain_grads()
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    paddle.autograd.backward([v4], None)
    print("3: x0.grad =", x0.grad)
    print("3: v2.grad =", v2.grad)
except Exception as error:
    print("3:", type(error).__name__, error)
try:
    x0.clear_gradient(True)
    print("4: x0.grad =", x0.grad)
    print("4: v2.grad =", v2.grad)
except Exception as error:
    print("4:", type(error).__name__, error)
print("after: x0 =", x0)
