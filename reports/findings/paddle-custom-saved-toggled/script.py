import paddle
from paddle.autograd import PyLayer


class Cube(PyLayer):
    @staticmethod
    def forward(ctx, h):
        ctx.save_for_backward(h)
        return h**3

    @staticmethod
    def backward(ctx, g):
        (h,) = ctx.saved_tensor()
        return 3 * h**2 * g


x = paddle.to_tensor([2.0], stop_gradient=False)
h = x * 1
y = Cube.apply(h) + h**2
h.stop_gradient = True
(g,) = paddle.grad(y, x, create_graph=True)
(second,) = paddle.grad(g, x)
assert second.item() == 14.0, f"the second derivative is {second.item()}, and 6x + 2 = 14 is right"
