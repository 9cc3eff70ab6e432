import torch

x = torch.ones(3, requires_grad=True)
w = torch.ones(3, requires_grad=True)
v = 2 * w

(product,) = torch.autograd.grad(x * 1, x, v)
assert not product.requires_grad

(g,) = torch.autograd.grad(x + 1, x, v)
assert not g.requires_grad, f"the gradient of x + 1 has grad_fn={g.grad_fn.name()}, that of x * 1 has none"
