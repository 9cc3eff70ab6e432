"""Case 43b12138cc2aa5b6, for torch."""
import numpy as np
import torch

nan, inf = float('nan'), float('inf')
x0 = torch.from_numpy(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], dtype='float64').reshape((2, 1, 3))).requires_grad_(True)
s3 = torch.from_numpy(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], dtype='float64').reshape((6,))).requires_grad_(False)
s4 = torch.from_numpy(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], dtype='float32').reshape((6,))).requires_grad_(False)

try:
    v2 = x0.contiguous().view([6])
    print("0: v2 =", v2, "requires_grad =", getattr(v2, "requires_grad", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    torch.autograd.backward([v2], [s3])
    print("1: x0.grad =", x0.grad)
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    torch.autograd.backward([v2], [s4])
    print("2: x0.grad =", x0.grad)
except Exception as error:
    print("2:", type(error).__name__, error)
print("after: x0 =", x0)
print("after: s3 =", s3)
print("after: s4 =", s4)
