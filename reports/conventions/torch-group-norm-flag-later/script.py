import torch
from torch.nn.functional import group_norm


def mixed(set_later):
    x = torch.tensor([[1.0, 2.0, 4.0]], dtype=torch.float64).reshape(1, 1, 3).requires_grad_(not set_later)
    w = torch.ones(1, dtype=torch.float64, requires_grad=True)
    y = group_norm(x, 1, w)
    x.requires_grad_()
    (g,) = torch.autograd.grad(y[0, 0, 2], w, create_graph=True)
    (h,) = torch.autograd.grad(g, x)
    return h.flatten().tolist()


right, found = mixed(set_later=False), mixed(set_later=True)
assert torch.allclose(torch.tensor(found), torch.tensor(right)), f"the derivative is {found}, and {right} if the flag is set before"
