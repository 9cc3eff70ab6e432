import math

import torch

x = torch.tensor([2.0, 3.0, math.inf], requires_grad=True)
x.prod().backward()
assert x.grad.tolist() == [math.inf, math.inf, 6.0], f"the gradient is {x.grad.tolist()}, and [inf, inf, 6] is right"
