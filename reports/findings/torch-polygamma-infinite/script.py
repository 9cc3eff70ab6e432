import torch

x = torch.tensor([float("inf")])
found = torch.polygamma(2, x).item()
assert found == 0.0, f"polygamma of order 2 at infinity is {found}, and 0 is right"
