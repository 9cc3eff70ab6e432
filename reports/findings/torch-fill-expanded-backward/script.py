import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2
y.expand(3, 2).fill_(1.5)
assert y.tolist() == [1.5, 1.5]
try:
    (gradient,) = torch.autograd.grad(y.sum(), x)
except RuntimeError as error:
    raise AssertionError(f"the gradient of what was filled is 0, and RuntimeError is raised: {error}") from None
assert gradient.tolist() == [0.0, 0.0]
