import paddle
from paddle.autograd import PyLayer


class Second(PyLayer):
    @staticmethod
    def forward(ctx, x, c):
        ctx.mark_not_inplace(c)
        return c

    @staticmethod
    def backward(ctx, g):
        return g, None


x = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
c = paddle.to_tensor([1.0, 1.0])
Second.apply(x, c)
assert c.stop_gradient, "c.stop_gradient was True and is False after the call"
