"""Case 26d221a31b6c0478, for torch."""
import numpy as np
import torch

nan, inf = float('nan'), float('inf')
x0 = torch.from_numpy(np.array([], dtype='float32').reshape((0,))).requires_grad_(True)
x5 = torch.from_numpy(np.array([], dtype='float32').reshape((0,))).requires_grad_(True)
s11 = torch.from_numpy(np.array([], dtype='float32').reshape((0,))).requires_grad_(True)

try:
    v6 = torch.cat([x0, x5, x0], 0)
    print("0: v6 =", v6, "requires_grad =", getattr(v6, "requires_grad", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    g10, = torch.autograd.grad([v6], [x5], [s11], create_graph=True)
    print("1: g10 =", g10, "requires_grad =", getattr(g10, "requires_grad", None))
except Exception as error:
    print("1:", type(error).__name__, error)
print("after: x0 =", x0)
print("after: x5 =", x5)
print("after: s11 =", s11)
