import torch

x = torch.zeros(2, 3, 2, 2).transpose(0, 1)
identities = torch.eye(2).expand(3, 2, 2, 2)
assert torch.equal(torch.linalg.matrix_exp(x.contiguous()), identities)
try:
    y = torch.linalg.matrix_exp(x)
except RuntimeError as error:
    raise AssertionError(f"raises {type(error).__name__}: {error}") from None
assert torch.equal(y, identities)
