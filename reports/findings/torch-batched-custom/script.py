import torch


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, grad):
        print(grad)
        return 2 * grad


x = torch.ones(2, requires_grad=True)
try:
    (g,) = torch.autograd.grad(Double.apply(x), x, torch.eye(2), is_grads_batched=True)
except RuntimeError as error:
    raise AssertionError(f"print raises {type(error).__name__}: {str(error).splitlines()[0]}") from None
assert g.tolist() == [[2.0, 0.0], [0.0, 2.0]]
