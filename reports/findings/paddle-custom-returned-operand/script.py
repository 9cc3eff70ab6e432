import paddle
from paddle.autograd import PyLayer


class Reverse(PyLayer):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_not_inplace(x)
        return x

    @staticmethod
    def backward(ctx, g):
        return -g


x = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
Reverse.apply(x).sum().backward()
assert x.grad is not None, "x.grad is None, and [-1, -1] is right"
assert x.grad.tolist() == [-1.0, -1.0], f"x.grad is {x.grad.tolist()}, and [-1, -1] is right"
