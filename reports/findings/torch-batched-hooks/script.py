import torch

x = torch.ones(2, requires_grad=True)
h = 2 * x
h.retain_grad()
torch.autograd.grad(3 * h, x, torch.eye(2), is_grads_batched=True)

assert h.grad is not None
try:
    h.grad.tolist()
except RuntimeError as error:
    raise AssertionError(f"h.grad.tolist() raises {type(error).__name__}: {error}") from None
