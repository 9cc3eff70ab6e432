import paddle
from paddle.autograd import PyLayer


class Twice(PyLayer):
    @staticmethod
    def forward(ctx, x):
        return paddle.concat([x, x])

    @staticmethod
    def backward(ctx, g):
        return g[::2]  # any gradient that is a view with a step


x = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
Twice.apply(x).backward(paddle.arange(6.0))
x.clear_gradient()
assert x.grad.tolist() == [0.0, 0.0, 0.0], f"x.grad is {x.grad.tolist()} after clear_gradient(), and zeros are right"
