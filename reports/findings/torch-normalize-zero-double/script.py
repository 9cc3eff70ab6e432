import torch

x = torch.zeros(2, dtype=torch.float64, requires_grad=True)
y = torch.nn.functional.normalize(x, dim=0, eps=0.5)  # 2 x, as |x| is below eps
(g,) = torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True)
assert g.tolist() == [2.0, 2.0]
(found,) = torch.autograd.grad(g.sum(), x)
assert found.tolist() == [0.0, 0.0], f"the second derivative of 2 x is {found.tolist()}"
