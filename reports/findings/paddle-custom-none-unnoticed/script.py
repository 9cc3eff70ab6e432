import paddle
from paddle.autograd import PyLayer


class First(PyLayer):
    @staticmethod
    def forward(ctx, x, w):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return 2 * g, None


x = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
w = paddle.to_tensor([5.0, 7.0], stop_gradient=False)
try:
    gx, gw = paddle.grad(First.apply(x, w).sum(), [x, w])
except (ValueError, RuntimeError):
    pass
else:
    assert gw is not None, "paddle.grad returns None for w, and raises nothing, with allow_unused=False"
