import paddle
from paddle.autograd import PyLayer


class HalfSquare(PyLayer):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (x * x).sum() / 2

    @staticmethod
    def backward(ctx, g):
        return ctx.saved_tensor()[0]


x = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
for _ in range(2):
    HalfSquare.apply(x).backward()
assert x.tolist() == [2.0, 3.0], f"x has become {x.tolist()} after two calls of backward, and [2, 3] is right"
