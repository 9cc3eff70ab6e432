import torch


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, grad):
        return 2 * grad * torch.sum(grad, dim=None, keepdim=True)


x = torch.tensor(3.0, requires_grad=True)
(one,) = torch.autograd.grad(Double.apply(x), x, torch.tensor(5.0))
assert one.item() == 50.0

(g,) = torch.autograd.grad(Double.apply(x), x, torch.tensor([2.0, 5.0]), is_grads_batched=True)
assert g.tolist() == [8.0, 50.0], f"the batch of gradients is {g.tolist()}, and [8.0, 50.0] is right"
