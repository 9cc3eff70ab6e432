import torch

x = torch.tensor([[2.0, -2.0, 2.0]], requires_grad=True)
y = torch.zeros(1, 3)
(found,) = torch.autograd.grad(torch.cdist(x, y, p=float("inf")).sum(), x)
(right,) = torch.autograd.grad(torch.linalg.vector_norm(x - y, float("inf")), x)
assert right.abs().sum().isclose(torch.tensor(1.0))
assert found.abs().sum() <= 1.0, f"the gradient of the largest difference is {found.tolist()}, which is no subgradient"
