import torch

x = torch.ones(2)
v = x[:1]
x.requires_grad_()

seen = []
try:
    v.register_hook(seen.append)
except RuntimeError:
    pass
else:
    (v * 2).sum().backward()
    assert seen, "register_hook is accepted, and backward through v does not call the hook"
