import torch

r = torch.tensor([2.0, 3.0], requires_grad=True)
y = torch.polar(r, torch.ones(2))

(g,) = torch.autograd.grad(y, r, torch.ones_like(y), create_graph=True)
assert not g.requires_grad, f"the gradient requires grad, with {g.grad_fn.name()}, and does not depend on abs"
