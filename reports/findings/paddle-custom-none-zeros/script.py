import paddle
from paddle.autograd import PyLayer


class Stop(PyLayer):
    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, g):
        return None


x = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
Stop.apply(x).sum().backward()
before = x.grad
Stop.apply(x * x).sum().backward()
assert (before is None) == (x.grad is None), f"x.grad is None with Stop.apply(x), and {x.grad.tolist()} with Stop.apply(x * x)"
