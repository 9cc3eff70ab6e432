import torch

x = torch.tensor([0.0, 1.0, float("inf")])
q = torch.quantile(x, 1.0).item()
assert q == x.max().item(), f"the largest of {x.tolist()} by quantile(x, 1.0) is {q}"
