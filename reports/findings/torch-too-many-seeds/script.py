import torch

x = torch.ones(2, requires_grad=True)
try:
    torch.autograd.backward([x * 2], [torch.ones(2), torch.ones(5)])
except RuntimeError:
    pass
assert x.grad is None, f"two grad_tensors for one tensor are accepted, and x.grad is {x.grad.tolist()}"
