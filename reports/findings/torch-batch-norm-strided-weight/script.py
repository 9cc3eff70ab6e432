import torch

x = torch.tensor([[1.0, 2.0, 4.0], [3.0, 1.0, 0.0]], requires_grad=True)
weight = torch.tensor([1.0, 10.0, 2.0, 20.0, 3.0, 30.0])[::2]
mean, var = torch.zeros(3), torch.ones(3)


def gradient(weight):
    y = torch.nn.functional.batch_norm(x, mean, var, weight, training=False)
    return torch.autograd.grad(y, x, torch.ones(2, 3))[0]


found, right = gradient(weight), gradient(weight.contiguous())
assert torch.equal(found, right), f"the gradient behind the strided weight is {found[0].tolist()}, and {right[0].tolist()} is right"
