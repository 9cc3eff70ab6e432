import torch

x = torch.zeros(0, requires_grad=True)
v = torch.zeros(0, requires_grad=True)

(g,) = torch.autograd.grad(torch.cat([x, x]), x, v, create_graph=True)
assert g.requires_grad, "the gradient does not require grad, though grad_outputs does"
