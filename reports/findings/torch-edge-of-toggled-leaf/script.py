import torch

x = torch.tensor(3.0, requires_grad=True)
y = x * x
edge = torch.autograd.graph.get_gradient_edge(x)
x.requires_grad_(False)

(g,) = torch.autograd.grad(y, edge, retain_graph=True)
assert g.item() == 6.0
try:
    torch.autograd.grad(y, x)
except RuntimeError as error:
    raise AssertionError(f"the edge of x gives 6, and x itself raises: {error}") from None
