import math

import torch

x = torch.tensor([0.0, 1e-8], dtype=torch.float64, requires_grad=True)
(g,) = torch.autograd.grad(torch.sinc(x).sum(), x, create_graph=True)
(h,) = torch.autograd.grad(g.sum(), x)
right = -(math.pi**2) / 3
assert all(abs(one - right) < 1e-6 for one in h.tolist()), f"the second derivative of sinc at 0 and 1e-8 is {h.tolist()}; {right} is right"
