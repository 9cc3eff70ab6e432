"""Case b9691062658b771f, for torch."""
import numpy as np
import torch

nan, inf = float('nan'), float('inf')
x = torch.from_numpy(np.array([1.0, 2.0], dtype='float32').reshape((2,))).requires_grad_(True)

try:
    v = torch.reshape(x, [2, 1])
    print("0: v =", v, "requires_grad =", getattr(v, "requires_grad", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    with torch.no_grad():
        x.mul_(3.0)
    print("1: x =", x, "requires_grad =", getattr(x, "requires_grad", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    def called_k(g):
        print("    k saw", g)
        return None
    k = v.register_hook(called_k)
except Exception as error:
    print("2:", type(error).__name__, error)
print("after: x =", x)
