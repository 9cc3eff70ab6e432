import torch

x = torch.ones(2, requires_grad=True)
constant = torch.ones(2)
try:
    torch.autograd.backward([x.sum(), constant], [None, None])
except RuntimeError as error:
    raise AssertionError(f"None is documented for tensors that don't require grad; it raises {error}") from None
