"""Case c4bedec3ca638c56, for torch."""
import numpy as np
import torch

nan, inf = float('nan'), float('inf')
x0 = torch.from_numpy(np.array([2.0], dtype='float64').reshape((1, 1))).requires_grad_(True)
x4 = torch.from_numpy(np.array([1.0], dtype='float64').reshape((1, 1))).requires_grad_(True)

try:
    v5 = torch.stack([x0, x4], 1)
    print("0: v5 =", v5, "requires_grad =", getattr(v5, "requires_grad", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    v6 = torch.sum(v5, [0, 1, 2], True)
    print("1: v6 =", v6, "requires_grad =", getattr(v6, "requires_grad", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    torch.autograd.backward([v6], None)
    print("2: x0.grad =", x0.grad)
    print("2: x4.grad =", x4.grad)
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    torch.autograd.backward(v6, None)
    print("3: x0.grad =", x0.grad)
    print("3: x4.grad =", x4.grad)
except Exception as error:
    print("3:", type(error).__name__, error)
print("after: x0 =", x0)
print("after: x4 =", x4)
