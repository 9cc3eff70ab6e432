import paddle
from paddle.autograd import PyLayer


class Sum(PyLayer):
    @staticmethod
    def forward(ctx, a, b, c):
        return a + b + c

    @staticmethod
    def backward(ctx, g):
        return g, g, g


x = paddle.to_tensor(2.0, stop_gradient=False)
w = paddle.to_tensor(5.0, stop_gradient=False)
dx, dw = paddle.grad(Sum.apply(x, x, w), [x, w])
assert (dx.item(), dw.item()) == (2.0, 1.0), f"the gradient of x + x + w is {dx.item(), dw.item()}, and (2, 1) is right"
