import torch

x = torch.ones(1, 1, 3, requires_grad=True)
w = torch.ones(1, 1, 2, requires_grad=True)
y = torch.nn.functional.conv1d(x, w)
seed = torch.ones_like(y, requires_grad=True)
gx, gw = torch.autograd.grad(y, (x, w), seed, create_graph=True)
torch.autograd.grad(gx.sum(), w)
try:
    (found,) = torch.autograd.grad(gw.sum(), x)
except RuntimeError as error:
    raise AssertionError(f"the gradient in the weight is freed with that in the input: {str(error)[:58]}") from None
assert found.tolist() == [[[1.0, 2.0, 1.0]]]
