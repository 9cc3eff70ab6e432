import paddle
from paddle.autograd import PyLayer


class Half(PyLayer):
    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        return v * v / 2

    @staticmethod
    def backward(ctx, g):
        (v,) = ctx.saved_tensor()
        return (g * v).astype("float64")


x = paddle.to_tensor(2.0, stop_gradient=False)
(g,) = paddle.grad(Half.apply(x * 3), x, create_graph=True)  # that of 9 x^2 / 2
assert g.item() == 18.0
try:
    (h,) = paddle.grad(g, x)
except ValueError as error:
    raise AssertionError(f"the derivative of 9 x is 9, and raises: {str(error).strip().splitlines()[0]}") from None
assert h.item() == 9.0, f"the derivative of 9 x is {h.item()}"
