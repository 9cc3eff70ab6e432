import torch

x = torch.empty(0, requires_grad=True)
y, _ = torch.native_dropout(x, 0.5, False)
y.retain_grad()
torch.autograd.grad(y, x, torch.empty(0))
assert x.grad is None, "autograd.grad has set the .grad of a leaf"
