"""Case d4d0c6af60e955e9, for torch."""
import numpy as np
import torch

nan, inf = float('nan'), float('inf')
x1 = torch.from_numpy(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], dtype='float32').reshape((4, 2))).requires_grad_(True)
r7 = torch.from_numpy(np.array([3.0], dtype='float32').reshape(())).requires_grad_(True)

try:
    v5 = torch.sum(x1, None, False)
    print("0: v5 =", v5, "requires_grad =", getattr(v5, "requires_grad", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    def called_h6(g):
        print("    h6 saw", g)
        return r7
    h6 = v5.register_hook(called_h6)
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    g8, = torch.autograd.grad([v5], [x1], None)
    print("2: g8 =", g8, "requires_grad =", getattr(g8, "requires_grad", None))
except Exception as error:
    print("2:", type(error).__name__, error)
print("after: x1 =", x1)
print("after: r7 =", r7)
