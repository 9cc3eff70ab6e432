import torch
from torch.autograd.functional import jacobian


def f(x):
    y = x[:, :2].clone()
    y[:, 0] = x[:, 2] ** 2
    return y


x = torch.ones(1, 3)  # with two rows it works
right = jacobian(f, x)
try:
    found = jacobian(f, x, vectorize=True)
except RuntimeError as error:
    raise AssertionError(f"jacobian with vectorize=True raises: {str(error)[:49]}") from None
assert found.equal(right)
