import math

import torch

x = torch.tensor(1.0, requires_grad=True)
y = torch.nn.functional.softplus(x, threshold=1.0)
(g,) = torch.autograd.grad(y, x, create_graph=True)
s = 1 / (1 + math.exp(-1))
assert math.isclose(g.item(), s, rel_tol=1e-5)

(h,) = torch.autograd.grad(g, x)
assert math.isclose(h.item(), s * (1 - s), rel_tol=1e-5), f"the second derivative is {h.item()}, and 0.1966 is right"
