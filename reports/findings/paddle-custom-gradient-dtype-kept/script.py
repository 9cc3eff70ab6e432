import paddle
from paddle.autograd import PyLayer


class Double(PyLayer):
    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, g):
        return (2 * g).astype("float64")


x = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
(Double.apply(x) + x).sum().backward()
assert x.grad.tolist() == [3.0, 3.0], f"x.grad is {x.grad.tolist()}, and [3, 3] is right"
