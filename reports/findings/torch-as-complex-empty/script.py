import torch

z = torch.zeros(0, dtype=torch.complex64, requires_grad=True)
y = torch.view_as_real(z).sum()

try:
    y.backward()
except RuntimeError as error:
    raise AssertionError(f"raises {type(error).__name__}: {str(error).splitlines()[0]}") from None
assert z.grad.shape == (0,)
