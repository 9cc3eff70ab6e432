import torch

x = torch.arange(64.0).reshape(1, 64).requires_grad_()
weight, bias = torch.ones(64, requires_grad=True), torch.zeros(64, requires_grad=True)
y = torch.nn.functional.group_norm(x, 1, weight, bias)
(g,) = torch.autograd.grad(y.abs().sum(), bias, create_graph=True)
assert set(g.tolist()) == {-1.0, 1.0}  # the signs of y, which do not change
(h,) = torch.autograd.grad(g.sum(), weight)
assert not h.any(), f"the derivative of the signs of y is {h[h != 0][:3].tolist()} in {h.count_nonzero()} of 64 elements, and 0 is right"
