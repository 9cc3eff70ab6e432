import torch

x = torch.ones(2, requires_grad=True)
y = torch.segment_reduce(x, "max", lengths=torch.tensor([2]))
(up,) = torch.autograd.grad(y, x, torch.tensor([1.0]), retain_graph=True)
(down,) = torch.autograd.grad(y, x, torch.tensor([-1.0]))
assert torch.equal(down, -up), f"with the seed 1 the gradient is {up.tolist()}, and with the seed -1 it is {down.tolist()}"
