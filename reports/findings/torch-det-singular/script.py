import torch

x = torch.tensor([[1.0, 2.0], [2.0, 4.0]], requires_grad=True)
(gradient,) = torch.autograd.grad(torch.linalg.det(x), x)
(again,) = torch.autograd.grad(torch.linalg.det(x), x, create_graph=True)
assert torch.allclose(again, torch.tensor([[4.0, -2.0], [-2.0, 1.0]]))  # the cofactors
assert torch.allclose(gradient, again), f"the gradient is {gradient.tolist()}, and {again.tolist()} with create_graph"
