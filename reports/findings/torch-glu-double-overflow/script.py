"""Case 6ff3fd5ffa7969cc, for torch."""
import numpy as np
import torch

nan, inf = float('nan'), float('inf')
x = torch.from_numpy(np.array([3.4028234663852886e+38, -2.0], dtype='float32').reshape((1, 2))).requires_grad_(True)
s = torch.from_numpy(np.array([0.5], dtype='float32').reshape((1, 1))).requires_grad_(False)
t = torch.from_numpy(np.array([0.0, 2.0], dtype='float32').reshape((1, 2))).requires_grad_(False)

try:
    y = torch.nn.functional.glu(x, 1)
    print("0: y =", y, "requires_grad =", getattr(y, "requires_grad", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    g, = torch.autograd.grad([y], [x], [s], create_graph=True)
    print("1: g =", g, "requires_grad =", getattr(g, "requires_grad", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    h, = torch.autograd.grad([g], [x], [t])
    print("2: h =", h, "requires_grad =", getattr(h, "requires_grad", None))
except Exception as error:
    print("2:", type(error).__name__, error)
print("after: x =", x)
print("after: s =", s)
print("after: t =", t)
