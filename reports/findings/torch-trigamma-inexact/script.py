import math

import torch

one = torch.ones(1, dtype=torch.float64)
found, right = torch.polygamma(1, one).item(), math.pi**2 / 6
assert abs(torch.special.zeta(2 * one, one).item() - right) < 1e-15
assert abs(found - right) < 1e-12, f"polygamma(1, 1) is {found}, and pi^2 / 6 is {right}"
