import paddle
from paddle.autograd import PyLayer


class Multiply(PyLayer):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x * w

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensor()
        return g * w, g * x


x = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
w = paddle.to_tensor([5.0, 7.0], stop_gradient=False)
try:
    (g,) = paddle.grad(Multiply.apply(x, w).sum(), [x])
except ValueError as error:
    raise AssertionError(f"raises ValueError: {str(error).strip().splitlines()[0]}") from None
assert g.tolist() == [5.0, 7.0], f"the gradient is {g.tolist()}, and [5, 7] is right"
