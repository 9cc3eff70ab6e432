import torch

x = torch.tensor([0.0, 2.0], requires_grad=True)
y = torch.tensor([1.0, 1.0])
(g,) = torch.autograd.grad(torch.copysign(x, y).sum() + (x * x).sum(), x, create_graph=True)
(h,) = torch.autograd.grad(g.sum(), x)
assert h.tolist() == [2.0, 2.0], f"the second derivative of copysign(x, 1) + x^2 at 0 and 2 is {h.tolist()}, and both are 2"
