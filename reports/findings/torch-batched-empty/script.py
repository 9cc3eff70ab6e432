import torch

x = torch.tensor([3.0, 5.0], requires_grad=True)
try:
    (g,) = torch.autograd.grad(x * x, x, torch.zeros(0, 2), is_grads_batched=True)
except IndexError as error:
    raise AssertionError(f"raises {type(error).__name__}: {error}") from None
assert g.shape == (0, 2)
