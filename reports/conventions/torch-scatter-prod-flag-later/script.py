import torch


def mixed(set_later):
    x = torch.tensor([3.0], requires_grad=not set_later)
    s = torch.tensor([2.0], requires_grad=True)
    y = x.scatter_reduce(0, torch.tensor([0]), s, "prod")  # x * s
    x.requires_grad_()
    (g,) = torch.autograd.grad(y, s, create_graph=True)
    (h,) = torch.autograd.grad(g, x)
    return h.item()


found, right = mixed(set_later=True), mixed(set_later=False)
assert found == right, f"the derivative of x * s is {found}, and {right} if the flag is set before"
