import torch

x = torch.tensor([-20.0, 20.0], requires_grad=True)
(g,) = torch.autograd.grad(torch.nn.functional.logsigmoid(x).sum(), x, create_graph=True)
(h,) = torch.autograd.grad(g.sum(), x)
left, right = h.tolist()
assert abs(right / left - 1) < 1e-5, f"the second derivative of logsigmoid at -20 and 20 is {h.tolist()}, and both are the same"
