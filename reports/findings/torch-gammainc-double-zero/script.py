import torch

a, x = torch.tensor(3.0), torch.tensor([0.0, 1.0], requires_grad=True)
(g,) = torch.autograd.grad(torch.special.gammainc(a, x).sum(), x, create_graph=True)  # x ** 2 * exp(-x) / 2
(h,) = torch.autograd.grad(g.sum(), x)  # (x - x ** 2 / 2) * exp(-x)
assert h[0] == 0, f"the second derivative of gammainc(3, x) at 0 is {h[0].item()}, and 0 is right"
