"""Case 9e2f28b4fe8e6b3b, for torch."""
import numpy as np
import torch

nan, inf = float('nan'), float('inf')
x = torch.from_numpy(np.array([1.0, 2.0], dtype='float32').reshape((2,))).requires_grad_(True)
s = torch.from_numpy(np.array([1.0, 1.0], dtype='float32').reshape((2, 1))).requires_grad_(False)

try:
    y = torch.reshape(x, [2, 1])
    print("0: y =", y, "requires_grad =", getattr(y, "requires_grad", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    torch.autograd.backward([y], [s])
    print("1: x.grad =", x.grad)
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    s.mul_(3.0)
    print("2: s =", s, "requires_grad =", getattr(s, "requires_grad", None))
except Exception as error:
    print("2:", type(error).__name__, error)
print("after: x =", x)
print("after: s =", s)
