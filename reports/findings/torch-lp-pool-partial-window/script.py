import torch

x = torch.tensor([[[1.0, 2.0, 3.0, 4.0, 5.0]]], requires_grad=True)
y = torch.nn.functional.lp_pool1d(x, 2.0, 2, stride=2, ceil_mode=True)
(g,) = torch.autograd.grad(y[0, 0, 2], x)
assert y[0, 0, 2].isclose(torch.tensor(5.0)), f"the root of the sum of squares over a window with 5 alone is {y[0, 0, 2].item()}"
assert g[0, 0, 4].isclose(torch.tensor(1.0)), f"and its gradient in that 5 is {g[0, 0, 4].item()}"
