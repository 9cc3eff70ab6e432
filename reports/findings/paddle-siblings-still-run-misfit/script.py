import paddle


class Square(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        return x * x

    @staticmethod
    def backward(ctx, g):
        return g.sum()  # has the wrong shape, and should never run here


x, y = paddle.ones([2, 1, 1]), paddle.ones([1, 1])
x.stop_gradient = y.stop_gradient = False
a, b = paddle.unbind(x)
z = paddle.block_diag([Square.apply(b), y])
try:
    (g,) = paddle.grad(z, y)
except ValueError as error:
    raise AssertionError(f"the gradient in y raises {type(error).__name__}: {str(error).strip().splitlines()[-2].strip()}") from None
assert g.item() == 1.0
