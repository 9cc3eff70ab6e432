import torch

w = torch.ones(1, requires_grad=True)
z = torch.ones(2, dtype=torch.complex64, requires_grad=True)
y = torch.cat([w, torch.view_as_real(z).reshape(-1)])

try:
    (y * y).sum().backward()
except RuntimeError as error:
    raise AssertionError(f"raises {type(error).__name__}: {str(error).splitlines()[0]}") from None
assert z.grad.tolist() == [2.0, 2.0]
