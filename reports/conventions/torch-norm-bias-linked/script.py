import torch

x = torch.tensor([0.5, -1.0, 2.0], requires_grad=True)
weight = torch.ones(3, requires_grad=True)
bias = torch.zeros(3, requires_grad=True)
y = torch.nn.functional.layer_norm(x, (3,), weight, bias)
(g,) = torch.autograd.grad(y.sum(), bias, create_graph=True)
assert not g.requires_grad, f"the gradient of the bias is {g.tolist()} whatever x is, and requires a gradient"
