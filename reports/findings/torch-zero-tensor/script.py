"""Case 12f3ad6ff9f61403, for torch."""
import numpy as np
import torch

nan, inf = float('nan'), float('inf')
x3 = torch.from_numpy(np.array([3.0], dtype='float32').reshape((1,))).requires_grad_(True)

try:
    v4 = torch.abs(x3)
    print("0: v4 =", v4, "requires_grad =", getattr(v4, "requires_grad", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    g9, = torch.autograd.grad([v4], [x3], None, create_graph=True)
    print("1: g9 =", g9, "requires_grad =", getattr(g9, "requires_grad", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    torch.autograd.backward([g9], None)
    print("2: x3.grad =", x3.grad)
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    v14 = torch.sum(v4, None, False)
    print("3: v14 =", v14, "requires_grad =", getattr(v14, "requires_grad", None))
except Exception as error:
    print("3:", type(error).__name__, error)
try:
    g15, = torch.autograd.grad([v14], [x3], None, create_graph=True)
    print("4: g15 =", g15, "requires_grad =", getattr(g15, "requires_grad", None))
except Exception as error:
    print("4:", type(error).__name__, error)
try:
    torch.autograd.backward([g15], None)
    print("5: x3.grad =", x3.grad)
except Exception as error:
    print("5:", type(error).__name__, error)
print("after: x3 =", x3)
