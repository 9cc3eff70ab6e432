import torch

x = torch.tensor([-17.0, 17.0], requires_grad=True)
(g,) = torch.autograd.grad(torch.nn.functional.softplus(x).sum(), x, create_graph=True)
(h,) = torch.autograd.grad(g.sum(), x)
left, right = h.tolist()
assert abs(right / left - 1) < 1e-5, f"the second derivative of softplus at -17 and 17 is {h.tolist()}, and both are the same"
