import torch

x = torch.tensor([1e8, 1e8, 1e8], requires_grad=True)
(g,) = torch.autograd.grad(torch.logsumexp(x, 0), x)
assert abs(g.sum().item() - 1) < 1e-3, f"the gradient of logsumexp([1e8, 1e8, 1e8]) is {g.tolist()}; 1/3 each is right"
