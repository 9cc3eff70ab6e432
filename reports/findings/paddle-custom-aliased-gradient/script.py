import paddle
from paddle.autograd import PyLayer


class Add(PyLayer):
    @staticmethod
    def forward(ctx, x, w):
        return x + w

    @staticmethod
    def backward(ctx, g):
        return g, g


x = paddle.to_tensor([2.0], stop_gradient=False)
w = paddle.to_tensor([5.0], stop_gradient=False)
for _ in range(3):
    Add.apply(x, w).backward()
assert x.grad.item() == 3.0, f"x.grad is {x.grad.item()} after three calls of backward, and 3 is right"
