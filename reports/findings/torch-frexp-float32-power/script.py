import torch

x = torch.tensor([3.0 * 2.0**199], dtype=torch.float64, requires_grad=True)
torch.frexp(x).mantissa.sum().backward()
assert x.grad.item() == 2.0**-201, f"the gradient is {x.grad.item()}, and 2 ** -201 is right: the mantissa is x * 2 ** -201"
