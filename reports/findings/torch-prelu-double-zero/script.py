import torch

x = torch.tensor([0.0, -1.0], requires_grad=True)
w = torch.tensor([0.25], requires_grad=True)
(g,) = torch.autograd.grad(torch.nn.functional.prelu(x, w).sum(), x, create_graph=True)
assert g.tolist() == [0.25, 0.25]  # w, twice
(h,) = torch.autograd.grad(g.sum(), w)
assert h.item() == 2.0, f"the gradient of prelu is w for both elements, and the derivative of their sum in w is {h.item()}; 2 is right"
