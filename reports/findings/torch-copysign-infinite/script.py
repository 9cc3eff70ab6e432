import torch

x = torch.tensor([torch.inf, 2.0], requires_grad=True)
(found,) = torch.autograd.grad(torch.copysign(x, torch.tensor([-1.0, -1.0])).sum(), x)
assert found.tolist() == [-1.0, -1.0], f"the gradients of copysign(x, -1) at inf and 2 are {found.tolist()}, and both are -1"
