import torch

p = torch.nn.Parameter(torch.ones(3))
v = p[:2]
y = (2 * v).sum()
with torch.no_grad():
    p.mul_(3)

try:
    (g,) = torch.autograd.grad(y, v)
except RuntimeError as error:
    raise AssertionError(f"raises: {error}") from None
assert g.tolist() == [2.0, 2.0]
