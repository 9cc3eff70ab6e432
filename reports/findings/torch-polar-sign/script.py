"""Case 7bced232b61e5597, for torch."""
import numpy as np
import torch

nan, inf = float('nan'), float('inf')
r = torch.from_numpy(np.array([2.0, 0.0, -2.0], dtype='float32').reshape((3,))).requires_grad_(True)
t = torch.from_numpy(np.array([0.0, 0.0, 0.0], dtype='float32').reshape((3,))).requires_grad_(True)
s = torch.from_numpy(np.array([(1+0j), (1+0j), (1+0j)], dtype='complex64').reshape((3,))).requires_grad_(False)

try:
    y = torch.polar(r, t)
    print("0: y =", y, "requires_grad =", getattr(y, "requires_grad", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    gr, gt, = torch.autograd.grad([y], [r, t], [s])
    print("1: gr =", gr, "requires_grad =", getattr(gr, "requires_grad", None))
    print("1: gt =", gt, "requires_grad =", getattr(gt, "requires_grad", None))
except Exception as error:
    print("1:", type(error).__name__, error)
print("after: r =", r)
print("after: t =", t)
print("after: s =", s)
