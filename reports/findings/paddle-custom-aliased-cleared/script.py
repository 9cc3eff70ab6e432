import paddle
from paddle.autograd import PyLayer


class Same(PyLayer):
    @staticmethod
    def forward(ctx, x):
        return paddle.tanh(x)

    @staticmethod
    def backward(ctx, g):
        return g


x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
y = Same.apply(x)
y.retain_grads()
(y * 1.0).sum().backward()
x.clear_gradient(False)
assert y.grad is not None, "y.grad is None after x.clear_gradient(False), and [1, 1] is right"
