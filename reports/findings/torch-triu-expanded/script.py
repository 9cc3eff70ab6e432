import torch

x = torch.ones(1, 3).expand(3, 3)
right = x.triu()
try:
    x.triu_()
except RuntimeError:
    pass  # as x.mul_(2) is refused
else:
    assert torch.equal(x, right), f"x.triu_() makes of ones {x.tolist()}, and {right.tolist()} is right"
