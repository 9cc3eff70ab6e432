import torch

x = torch.tensor([1e200, 2e200, 4e200], dtype=torch.float64, requires_grad=True)
s = torch.std(x, unbiased=False)
(g,) = torch.autograd.grad(s, x)
assert s.item() < 1e201, f"std([1e200, 2e200, 4e200]) is {s.item()}, with gradient {g.tolist()}; 1.25e200 is right"
