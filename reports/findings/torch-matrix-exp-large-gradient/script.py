import torch

x = torch.tensor([[0.5, 1.0], [-0.25, 0.75]], requires_grad=True)
seed = torch.tensor([[1.0, 2.0], [-1.0, 0.5]])
(right,) = torch.autograd.grad(torch.linalg.matrix_exp(x), x, seed)
scale = 2.0**20  # as a loss scale, or a large loss: a power of two rounds nothing
(scaled,) = torch.autograd.grad(torch.linalg.matrix_exp(x), x, scale * seed)
error = ((scaled / scale - right).abs().max() / right.abs().max()).item()
assert error < 1e-5, f"the gradient for a seed that is 2 ** 20 times as large is off by {error:.0%} of 2 ** 20 times the gradient"
