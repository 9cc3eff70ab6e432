import paddle


class Double(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
y = Double.apply(x)
y.register_hook(lambda grad: grad * 10)
y.sum().backward()
assert x.grad.tolist() == [20.0, 20.0], f"the gradient is {x.grad.tolist()}, and [20, 20] is right"
