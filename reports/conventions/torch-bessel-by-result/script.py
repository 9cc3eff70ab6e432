import torch

x = torch.tensor(1.0, requires_grad=True)
y = torch.special.i1e(x)
(g,) = torch.autograd.grad(y, x, create_graph=True)
(found,) = torch.autograd.grad(g, y, allow_unused=True)
assert found is None, f"the derivative of the gradient in the result is {found.item()}"
