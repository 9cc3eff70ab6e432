import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
(g,) = torch.autograd.grad(x.sum(), x)

try:
    g.mul_(3)
except RuntimeError as error:
    raise AssertionError(f"raises {type(error).__name__}: {str(error).splitlines()[0]}") from None
assert g.tolist() == [3.0, 3.0]
