import math

import torch

x = torch.tensor([[0.0, -0.04], [0.04, 0.0]], dtype=torch.float64)
found = torch.linalg.matrix_exp(x)[1, 0].item()  # a rotation by 0.04 radians
assert abs(torch.linalg.matrix_exp(x.repeat(2, 1, 1))[0, 1, 0].item() - math.sin(0.04)) < 1e-16  # in a batch of two it is right
assert abs(found - math.sin(0.04)) < 1e-15, f"matrix_exp has {found}, the sine is {math.sin(0.04)}: they differ by {abs(found - math.sin(0.04)):.1e}"
