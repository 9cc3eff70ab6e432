import torch

w = torch.ones(3, requires_grad=True)
(g,) = torch.autograd.grad(w.sum(), w)
right = g.masked_fill(torch.tensor([True, False, False]), 5.0)
try:
    g.masked_fill_(torch.tensor([True, False, False]), 5.0)
except RuntimeError:
    pass  # as g.mul_(2) is refused
else:
    assert torch.equal(g, right), f"g.masked_fill_ makes of ones {g.tolist()}, and {right.tolist()} is right"
