"""Case b8232f09f22a2bd4, for torch."""
import numpy as np
import torch

nan, inf = float('nan'), float('inf')
c = torch.from_numpy(np.array([1.0, 2.0], dtype='float32').reshape((2,))).requires_grad_(False)
w = torch.from_numpy(np.array([3.0, 4.0], dtype='float32').reshape((2,))).requires_grad_(True)

try:
    v = torch.reshape(c, [2, 1])
    print("0: v =", v, "requires_grad =", getattr(v, "requires_grad", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    c.mul_(w)
    print("1: c =", c, "requires_grad =", getattr(c, "requires_grad", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    v.mul_(3.0)
    print("2: v =", v, "requires_grad =", getattr(v, "requires_grad", None))
except Exception as error:
    print("2:", type(error).__name__, error)
print("after: c =", c)
print("after: w =", w)
