import torch

a = torch.tensor([[2.0]], requires_grad=True)
b = torch.tensor([[4.0]], requires_grad=True)
ga, gb = torch.autograd.grad(torch.linalg.solve(a, b).sum(), (a, b), create_graph=True)
torch.autograd.grad(gb.sum(), a)
try:
    (found,) = torch.autograd.grad(ga.sum(), a)
except RuntimeError as error:
    raise AssertionError(f"the gradient in the matrix is freed with that in the right side: {str(error)[:58]}") from None
assert found.tolist() == [[1.0]]
