import torch

y = torch.tensor([1e20, 0.0], requires_grad=True)
x = torch.tensor([1.0, 1e-23], requires_grad=True)
in_y, in_x = torch.autograd.grad(torch.atan2(y, x).sum(), [y, x])
assert in_x[0].item() != 0, "the derivative of atan2(1e20, x) at x = 1 is 0; -1e-20 is right"
assert in_y[1].item() != 0, "the derivative of atan2(y, 1e-23) at y = 0 is 0; 1e23 is right"
