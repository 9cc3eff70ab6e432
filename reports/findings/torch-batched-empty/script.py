"""Case c0d9c8c162bdc826, for torch."""
import numpy as np
import torch

nan, inf = float('nan'), float('inf')
x = torch.from_numpy(np.array([3.0, 5.0], dtype='float32').reshape((2,))).requires_grad_(True)
s = torch.from_numpy(np.array([], dtype='float32').reshape((0, 2))).requires_grad_(False)

try:
    h = torch.mul(x, x)
    print("0: h =", h, "requires_grad =", getattr(h, "requires_grad", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    dx, = torch.autograd.grad([h], [x], [s], is_grads_batched=True)
    print("1: dx =", dx, "requires_grad =", getattr(dx, "requires_grad", None))
except Exception as error:
    print("1:", type(error).__name__, error)
print("after: x =", x)
print("after: s =", s)
