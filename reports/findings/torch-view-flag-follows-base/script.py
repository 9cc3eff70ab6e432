import torch

x = torch.ones(2)
v = x[:1]
x.requires_grad_()

assert not v.requires_grad, f"v.requires_grad is True, with grad_fn={v.grad_fn} and is_leaf={v.is_leaf}"
