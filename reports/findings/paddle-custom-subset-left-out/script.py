import paddle
from paddle.autograd import PyLayer


class Multiply(PyLayer):
    @staticmethod
    def forward(ctx, x, w):
        return x * w

    @staticmethod
    def backward(ctx, g):
        return g


x = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
w = paddle.to_tensor([5.0, 7.0], stop_gradient=False)
try:
    (g,) = paddle.grad(Multiply.apply(x, w).sum(), [x])
except ValueError:
    raised = True
else:
    raised = False
assert raised, "is accepted, though backward returns one gradient for two inputs"
