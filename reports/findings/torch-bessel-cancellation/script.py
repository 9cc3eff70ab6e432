import torch

x = torch.tensor([3.0e7], requires_grad=True)
(slope,) = torch.autograd.grad(torch.special.i0e(x).sum(), x)
right = -1.2139e-12
assert abs(slope.item() / right - 1) < 0.01, f"the slope of i0e at 3e7 is {slope.item()}, and {right} is right"

x = torch.tensor([1e-7], dtype=torch.float64, requires_grad=True)
(slope,) = torch.autograd.grad(torch.special.i1(x).sum(), x, create_graph=True)
(bend,) = torch.autograd.grad(slope.sum(), x)
assert abs(bend.item() / 3.75e-8 - 1) < 0.01, f"the second derivative of i1 at 1e-7 is {bend.item()}, and 3 x / 8 = 3.75e-8 is right"
