import torch

x = torch.tensor([1.0, 1.0, 1.0], requires_grad=True)
torch.ldexp(x, torch.tensor([-1, 0, 1])).sum().backward()
found = x.grad.tolist()
assert found == [0.5, 1.0, 2.0], f"the gradient of ldexp for the exponents -1, 0 and 1 is {found}, and [0.5, 1, 2] is right"
