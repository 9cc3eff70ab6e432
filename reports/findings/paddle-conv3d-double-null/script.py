import paddle
import paddle.nn.functional as F

x = paddle.full([1, 1, 1, 1, 1], 2.0)
w = paddle.full([1, 1, 1, 1, 1], 3.0)
x.stop_gradient = w.stop_gradient = False
y = F.relu(x)
(g,) = paddle.grad(F.conv3d(y, w), y, create_graph=True)
try:
    (g * g).sum().backward()  # a gradient penalty: w squared
except RuntimeError as error:
    raise AssertionError(f"raises {type(error).__name__}: {str(error).strip().splitlines()[0]}") from None
assert w.grad.item() == 6.0
