"""Case 7a5887ed0f4fb618, for torch."""
import numpy as np
import torch

nan, inf = float('nan'), float('inf')
x0 = torch.from_numpy(np.array([], dtype='float32').reshape((0, 2))).requires_grad_(True)
s10 = torch.from_numpy(np.array([3.0], dtype='float32').reshape(())).requires_grad_(True)
v4 = torch.from_numpy(np.array([], dtype='float32').reshape((0, 8))).requires_grad_(True)

try:
    v6 = torch.sum(v4, None, False)
    print("0: v6 =", v6, "requires_grad =", getattr(v6, "requires_grad", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    g9, = torch.autograd.grad([v6], [v4], [s10], create_graph=True)
    print("1: g9 =", g9, "requires_grad =", getattr(g9, "requires_grad", None))
    print("1: x0.grad =", x0.grad)
    print("1: s10.grad =", s10.grad)
    print("1: v4.grad =", v4.grad)
    print("1: v11.grad =", v11.grad)
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    v11 = torch.sum(g9, None, False)
    print("2: v11 =", v11, "requires_grad =", getattr(v11, "requires_grad", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    v11.retain_grad()
except Exception as error:
    print("3:", type(error).__name__, error)
try:
    g21, = torch.autograd.grad([v11], [x0], None)
    print("4: g21 =", g21, "requires_grad =", getattr(g21, "requires_grad", None))
    print("4: x0.grad =", x0.grad)
    print("4: s10.grad =", s10.grad)
    print("4: v4.grad =", v4.grad)
    print("4: v11.grad =", v11.grad)
except Exception as error:
    print("4:", type(error).__name__, error)
print("after: x0 =", x0)
print("after: s10 =", s10)
print("after: v4 =", v4)
