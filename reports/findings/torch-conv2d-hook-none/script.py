import torch

layer = torch.nn.Conv2d(1, 1, 2)
x = torch.ones(1, 1, 3, 3, requires_grad=True)
x.register_hook(lambda grad: 2 * grad)

(g,) = torch.autograd.grad(layer(x).sum(), x, create_graph=True)
try:
    (g * g).sum().backward()
except TypeError as error:
    raise AssertionError(f"the hook of x is called with None: {error}") from None
assert x.grad is None
