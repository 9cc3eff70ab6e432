"""A seed that requires a gradient comes back, with its history, from a call that makes no graph."""

import torch

x = torch.ones(3, requires_grad=True)
w = torch.ones(3, requires_grad=True)
seed = 2 * w
(g,) = torch.autograd.grad(x + 1, x, seed)
(view,) = torch.autograd.grad(x.reshape(3, 1), x, seed.reshape(3, 1))
(other,) = torch.autograd.grad(x * 1, x, seed)
print(g is seed, g.grad_fn)  # True <MulBackward0 ...>
assert g is seed
assert g.requires_grad
assert view.requires_grad
assert not other.requires_grad
