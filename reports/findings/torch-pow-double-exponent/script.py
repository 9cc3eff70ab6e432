"""Case 7eec3576554e38c6, for torch."""
import numpy as np
import torch

nan, inf = float('nan'), float('inf')
x = torch.from_numpy(np.array([0.5, 2.0], dtype='float32').reshape((2,))).requires_grad_(True)
e = torch.from_numpy(np.array([0.0, 0.0], dtype='float32').reshape((2,))).requires_grad_(True)

try:
    y = torch.pow(x, e)
    print("0: y =", y, "requires_grad =", getattr(y, "requires_grad", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    z = torch.sum(y, None, False)
    print("1: z =", z, "requires_grad =", getattr(z, "requires_grad", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    g, = torch.autograd.grad([z], [x], None, create_graph=True)
    print("2: g =", g, "requires_grad =", getattr(g, "requires_grad", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    w = torch.sum(g, None, False)
    print("3: w =", w, "requires_grad =", getattr(w, "requires_grad", None))
except Exception as error:
    print("3:", type(error).__name__, error)
try:
    h, = torch.autograd.grad([w], [e], None)
    print("4: h =", h, "requires_grad =", getattr(h, "requires_grad", None))
except Exception as error:
    print("4:", type(error).__name__, error)
print("after: x =", x)
print("after: e =", e)
