import paddle


class Both(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        return x * 2, x * 3

    @staticmethod
    def backward(ctx, grad_a, grad_b):
        return grad_a * 2 + grad_b * 3


x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
a, b = Both.apply(x)
seen = []
a.register_hook(lambda grad: seen.append(grad))
b.sum().backward()
assert all(grad is not None for grad in seen), f"the hook is called with {seen[0]}"
