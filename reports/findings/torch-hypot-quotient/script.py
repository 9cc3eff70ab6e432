import torch

x = torch.tensor([0.0, torch.inf, 3e38], requires_grad=True)
y = torch.tensor([0.0, 1.0, 1.0])
(found,) = torch.autograd.grad(torch.hypot(x, y), x, torch.tensor([1.0, 1.0, 2.0]))
assert found.tolist() == [0.0, 1.0, 2.0], f"the gradients of hypot at (0, 0), (inf, 1) and (3e38, 1) are {found.tolist()}, and [0, 1, 2] is right"
