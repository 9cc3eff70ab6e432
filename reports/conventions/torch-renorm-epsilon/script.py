import torch

x = torch.tensor([[3.0, 4.0]], dtype=torch.float64)
found = torch.renorm(x, p=2, dim=0, maxnorm=1.0).norm().item()
assert abs(found - 1.0) < 1e-15, f"a row of the norm 5 is scaled to the norm {found!r}, which is less than maxnorm by {1 - found:.1e}"
