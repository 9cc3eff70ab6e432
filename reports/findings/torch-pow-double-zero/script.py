import torch

x = torch.tensor(0.0, requires_grad=True)
(g,) = torch.autograd.grad(x ** torch.tensor(0.0), x, create_graph=True)
assert g.item() == 0.0
(h,) = torch.autograd.grad(g, x)
assert h.item() == 0.0, f"the second derivative of x^0 is {h.item()} at 0, and 0 is right"

y = torch.tensor(2.0, requires_grad=True)
(g,) = torch.autograd.grad(torch.tensor(0.0) ** y, y, create_graph=True)
(h,) = torch.autograd.grad(g, y)
assert h.item() == 0.0, f"the second derivative of 0^y is {h.item()} at 2, and 0 is right"
