"""Case 54c804b52a768636, for torch."""
import numpy as np
import torch

nan, inf = float('nan'), float('inf')
r = torch.from_numpy(np.array([2.0, 3.0], dtype='float32').reshape((2,))).requires_grad_(True)
t = torch.from_numpy(np.array([0.0, 0.0], dtype='float32').reshape((2,))).requires_grad_(False)
s = torch.from_numpy(np.array([(1+0j), (1+0j)], dtype='complex64').reshape((2,))).requires_grad_(False)

try:
    y = torch.polar(r, t)
    print("0: y =", y, "requires_grad =", getattr(y, "requires_grad", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    g, = torch.autograd.grad([y], [r], [s], create_graph=True)
    print("1: g =", g, "requires_grad =", getattr(g, "requires_grad", None))
except Exception as error:
    print("1:", type(error).__name__, error)
print("after: r =", r)
print("after: t =", t)
print("after: s =", s)
