import torch

x = torch.tensor([-1.0])
assert torch.digamma(x).isnan().item()
found = torch.polygamma(2, x).item()
assert found != found, f"polygamma of order 2 is {found} at -1, and digamma is NaN there"
