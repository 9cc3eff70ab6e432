import paddle
from paddle.autograd import PyLayer


class Add(PyLayer):
    @staticmethod
    def forward(ctx, a, b):
        return a + b

    @staticmethod
    def backward(ctx, g):
        return g, g


x = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
v = x * x
y = Add.apply(v, v)
_, g = paddle.grad((y**2).sum(), [x, y])
assert g.tolist() == [16.0, 36.0], f"the gradient of y**2 is {g.tolist()}, and 2y = [16, 36] is right"
