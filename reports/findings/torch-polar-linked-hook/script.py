"""The gradient of polar in abs is computed from polar's result, so a second pass calls the hooks of abs, with zeros."""

import torch

r = torch.tensor([2.0, 3.0], requires_grad=True)
y = torch.polar(r, torch.zeros(2))
seed = torch.ones_like(y, requires_grad=True)
(g,) = torch.autograd.grad(y, r, seed, create_graph=True)
seen = []
r.register_hook(seen.append)
g.sum().backward()
print(seen, r.grad)  # [tensor([0., 0.])] tensor([0., 0.])
assert len(seen) == 1
assert not seen[0].any()
