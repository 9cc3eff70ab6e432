import torch

x = torch.tensor([2.0, 3.0, float("inf")], requires_grad=True)
(g,) = torch.autograd.grad(torch.cumprod(x, 0)[2], x)
assert g[2].item() == 6.0, f"the derivative of 2 * 3 * x at x = inf is {g[2].item()}; 6 is right"
