"""Case 3e716555866ccb28, for torch."""
import numpy as np
import torch

nan, inf = float('nan'), float('inf')
x = torch.from_numpy(np.array([1.0, 2.0], dtype='float32').reshape((2,))).requires_grad_(True)
z = torch.from_numpy(np.array([(1+1j), (2-1j)], dtype='complex64').reshape((2,))).requires_grad_(True)
s = torch.from_numpy(np.array([(1+2j), (3-1j)], dtype='complex64').reshape((2,))).requires_grad_(False)

try:
    y = torch.where(torch.tensor([True, False]), x, z)
    print("0: y =", y, "requires_grad =", getattr(y, "requires_grad", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    gx, gz, = torch.autograd.grad([y], [x, z], [s])
    print("1: gx =", gx, "requires_grad =", getattr(gx, "requires_grad", None))
    print("1: gz =", gz, "requires_grad =", getattr(gz, "requires_grad", None))
except Exception as error:
    print("1:", type(error).__name__, error)
print("after: x =", x)
print("after: z =", z)
print("after: s =", s)
