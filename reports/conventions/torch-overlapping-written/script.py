import torch

x = torch.ones(3)
x.unfold(0, 2, 1).mul_(2.0)
assert x.tolist() == [2.0, 2.0, 2.0], f"windows that were multiplied by 2 leave {x.tolist()}"
