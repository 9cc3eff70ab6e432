import torch

x = (0.02 * torch.eye(3)).requires_grad_()
(gradient,) = torch.autograd.grad(torch.linalg.det(x), x, create_graph=True)
(second,) = torch.autograd.grad(gradient[0, 0], x)
assert torch.allclose(gradient, 0.0004 * torch.eye(3), atol=1e-8)  # as it should be
assert torch.allclose(second, torch.diag(torch.tensor([0.0, 0.02, 0.02]))), f"the second derivatives are {second.tolist()}"
