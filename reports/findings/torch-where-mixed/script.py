import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
z = torch.tensor([1 + 1j, 2 - 1j], requires_grad=True)
y = torch.where(torch.tensor([True, False]), x, z)

try:
    y.real.sum().backward()
except RuntimeError as error:
    raise AssertionError(f"raises {type(error).__name__}: {str(error).splitlines()[0]}") from None
assert x.grad.tolist() == [1.0, 0.0]
assert z.grad.tolist() == [0.0, 1.0]
