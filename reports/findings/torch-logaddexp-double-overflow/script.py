import torch

x = torch.tensor([0.0], requires_grad=True)
y = torch.tensor([90.0])
(g,) = torch.autograd.grad(torch.logaddexp(x, y), x, create_graph=True)
(h,) = torch.autograd.grad(g, x)
assert h.item() < 1e-38, f"the second derivative is {h.item()}; e^-90, which is next to 0, is right"
