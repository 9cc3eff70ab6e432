import torch

w = torch.ones(2, requires_grad=True)
c = torch.zeros(2)
v = c[:1]
c.add_(w)

try:
    v.mul_(3)
except RuntimeError as error:
    raise AssertionError(f"raises: {error} (v.is_leaf is {v.is_leaf})") from None
c.sum().backward()
assert w.grad.tolist() == [3.0, 1.0]
