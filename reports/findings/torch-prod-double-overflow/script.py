import torch

x = torch.tensor([0.0, 1e20, 1e20, 1e-20, 1e-20])
right = torch.autograd.functional.hessian(torch.prod, x.double())
assert right[0, 0].item() == 0.0
assert right.abs().max().item() < 1.1e20

hessian = torch.autograd.functional.hessian(torch.prod, x)
assert hessian[0, 0].item() == 0.0, f"d2/dx0^2 of the product is {hessian[0, 0].item()}, and 0 is right"
