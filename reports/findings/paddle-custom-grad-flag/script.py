import paddle
from paddle.autograd import PyLayer


class Square(PyLayer):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensor()
        return 2 * x * g


x = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
w = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
(Square.apply(x) + w * w).sum().backward()
flags = [x.grad.stop_gradient, w.grad.stop_gradient]
assert flags[0] == flags[1], f"x.grad and w.grad have stop_gradient {flags}"
