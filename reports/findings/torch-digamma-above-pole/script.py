import torch

x = torch.tensor(-1 + 2.0**-20, dtype=torch.float64, requires_grad=True)
torch.lgamma(x).backward()
found = x.grad.item()
right = (torch.digamma(x + 1) - 1 / x).item()  # digamma(x + 1) = digamma(x) + 1 / x, and x + 1 is positive and exact
assert abs(found / right - 1) < 1e-14, f"digamma(-1 + 2**-20) is {found!r}, and {right!r} is right: eleven digits of sixteen"
