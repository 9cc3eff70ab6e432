import torch

x = torch.zeros(1, requires_grad=True)
(g,) = torch.autograd.grad(torch.nn.functional.elu(x, alpha=2.0), x, create_graph=True)
assert g.item() == 2.0

(h,) = torch.autograd.grad(g, x)
assert h.item() == 2.0, f"the second derivative of elu at 0 is {h.item()}, and 2 goes with the first"
