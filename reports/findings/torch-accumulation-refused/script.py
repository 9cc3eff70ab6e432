import torch

x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
v = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
x.view(2, 2).backward(v)
try:
    x.view(2, 2).backward(v.t())
except RuntimeError as error:
    raise AssertionError(f"a second backward, with a gradient of its own, raises {str(error)[:50]!r}") from None
assert x.grad.tolist() == [[2.0, 5.0], [5.0, 8.0]]
