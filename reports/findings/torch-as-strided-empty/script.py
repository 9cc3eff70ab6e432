import torch

x = torch.ones(0, requires_grad=True)
v = torch.ones(0, requires_grad=True)

(plain,) = torch.autograd.grad(x.view(0), x, v, create_graph=True)
assert plain.requires_grad  # it depends on v

(g,) = torch.autograd.grad(x.as_strided((0,), (1,)), x, v, create_graph=True)
assert g.requires_grad, "the gradient of as_strided does not require grad, and g.sum().backward() raises"
