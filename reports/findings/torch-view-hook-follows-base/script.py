"""Case 516f062bffe2a1c9, for torch."""
import numpy as np
import torch

nan, inf = float('nan'), float('inf')
x2 = torch.from_numpy(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], dtype='float32').reshape((2, 3))).requires_grad_(False)

try:
    v3 = torch.transpose(x2, 0, 1)
    print("0: v3 =", v3, "requires_grad =", getattr(v3, "requires_grad", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    x2.requires_grad = True
    print("1: x2 =", x2, "requires_grad =", getattr(x2, "requires_grad", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    def called_h15(g):
        print("    h15 saw", g)
        return None
    h15 = v3.register_hook(called_h15)
except Exception as error:
    print("2:", type(error).__name__, error)
print("after: x2 =", x2)
