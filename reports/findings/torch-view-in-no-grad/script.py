import torch

x = torch.ones(3, requires_grad=True)
with torch.no_grad():
    product = x * 1
    view = x[:2]

assert not product.requires_grad
assert not view.requires_grad, f"x[:2] under no_grad has requires_grad=True and grad_fn={view.grad_fn}"
