import torch

x = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
loss = torch.nn.functional.binary_cross_entropy(x, torch.ones((), dtype=torch.float64))
(g,) = torch.autograd.grad(loss, x, create_graph=True)
(h,) = torch.autograd.grad(g, x)
assert abs(h.item() - 4.0) < 1e-13, f"the second derivative of -log(x) at 0.5 is {h.item()}, and 4 is right"
