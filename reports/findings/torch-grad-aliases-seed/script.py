"""Case af2724e1230fdc6b, for torch."""
import numpy as np
import torch

nan, inf = float('nan'), float('inf')
x = torch.from_numpy(np.array([1.0, 2.0], dtype='float32').reshape((2,))).requires_grad_(True)
s = torch.from_numpy(np.array([1.0, 1.0], dtype='float32').reshape((2,))).requires_grad_(False)

try:
    y = x + 1.0
    print("0: y =", y, "requires_grad =", getattr(y, "requires_grad", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    g, = torch.autograd.grad([y], [x], [s])
    print("1: g =", g, "requires_grad =", getattr(g, "requires_grad", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    g.mul_(3.0)
    print("2: g =", g, "requires_grad =", getattr(g, "requires_grad", None))
except Exception as error:
    print("2:", type(error).__name__, error)
print("after: x =", x)
print("after: s =", s)
