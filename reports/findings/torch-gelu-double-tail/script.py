import torch

x = torch.tensor(2e19, requires_grad=True)
(g,) = torch.autograd.grad(torch.nn.functional.gelu(x), x, create_graph=True)
assert g.item() == 1.0

(h,) = torch.autograd.grad(g, x)
assert h.item() == 0.0, f"the second derivative is {h.item()}, and 0 is right"
