import math

import torch

x = torch.tensor([-0.0, -math.inf])
y = x ** torch.tensor([-0.5, -0.5])
assert y.tolist() == [math.inf, 0.0]

y = x**-0.5
assert y.tolist() == [math.inf, 0.0], f"[-0, -inf] ** -0.5 is {y.tolist()}, and [inf, 0] is right"
