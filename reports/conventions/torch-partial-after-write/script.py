import torch

x = torch.ones(2, requires_grad=True)
w = torch.ones(2, requires_grad=True)
h = w.exp()
y = x + h
h.add_(1)

try:
    y.sum().backward()
except RuntimeError:
    assert x.grad is None, f"backward raised, and x.grad is {x.grad.tolist()}, w.grad is {w.grad}"
else:
    raise AssertionError("the change of h is not noticed")
