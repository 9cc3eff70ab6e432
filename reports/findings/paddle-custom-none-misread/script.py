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
y = Stop.apply(paddle.sin(x)).sum()
try:
    y.backward()
except RuntimeError as error:
    raise AssertionError(f"raises RuntimeError: {str(error).strip().splitlines()[0]}") from None
assert x.grad is None, f"x.grad is {x.grad}, and None is right"
