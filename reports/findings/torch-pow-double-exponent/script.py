import torch

x = torch.tensor(0.5)
e = torch.tensor(0.0)
hessian = torch.autograd.functional.hessian(torch.pow, (x, e))

assert hessian[1][0].item() == 2.0
assert hessian[0][1].item() == 2.0, f"d/de d/dx x^e is {hessian[0][1].item()}, d/dx d/de is {hessian[1][0].item()}"
