import torch

r = torch.tensor([2.0, 3.0], requires_grad=True)
y = torch.polar(r, torch.zeros(2))
v = torch.ones_like(y, requires_grad=True)
(g,) = torch.autograd.grad(y, r, v, create_graph=True)

seen = []
r.register_hook(seen.append)
g.sum().backward()
assert not seen, f"the hook of abs is called with {seen[0].tolist()}, and r.grad is {r.grad}"
