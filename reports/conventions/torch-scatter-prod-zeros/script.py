import torch

x = torch.tensor([2.0, 3.0])
src = torch.tensor([0.0, 0.0], requires_grad=True)
y = torch.scatter_reduce(x, 0, torch.tensor([0, 0]), src, "prod")
(g,) = torch.autograd.grad(y.sum(), src, create_graph=True)
message = ""
try:
    g.sum().backward()
except RuntimeError as error:
    message = str(error)
assert not message, f"the derivative of scatter_reduce was recorded, and cannot be differentiated: {message}"
