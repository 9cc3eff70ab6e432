import torch

x = torch.tensor([1.0, 3.0], requires_grad=True)
y = torch.ldexp(x, torch.tensor([-1, 2]))
(g,) = torch.autograd.grad(y.sum(), x)
assert g.tolist() == [0.5, 4.0], f"y is {y.tolist()}, and its gradient {g.tolist()}; [0.5, 4] is right"
