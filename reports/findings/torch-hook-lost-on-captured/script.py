"""Case eb47738d96e39777, for torch."""
import numpy as np
import torch

nan, inf = float('nan'), float('inf')
x0 = torch.from_numpy(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0], dtype='float32').reshape((3, 3))).requires_grad_(True)
r4 = torch.from_numpy(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0], dtype='float32').reshape((3, 4))).requires_grad_(False)
s7 = torch.from_numpy(np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], dtype='float32').reshape((3, 4))).requires_grad_(False)

try:
    v1 = torch.index_select(x0, -1, torch.tensor([0, 1, 2, 1]))
    print("0: v1 =", v1, "requires_grad =", getattr(v1, "requires_grad", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    def called_h3(g):
        print("    h3 saw", g)
        return r4
    h3 = v1.register_hook(called_h3)
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    g5, g6, = torch.autograd.grad([v1], [x0, v1], [s7])
    print("2: g5 =", g5, "requires_grad =", getattr(g5, "requires_grad", None))
    print("2: g6 =", g6, "requires_grad =", getattr(g6, "requires_grad", None))
except Exception as error:
    print("2:", type(error).__name__, error)
print("after: x0 =", x0)
print("after: r4 =", r4)
print("after: s7 =", s7)
