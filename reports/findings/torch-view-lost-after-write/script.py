"""Case 495845e1fa62b700, for torch."""
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
    y = torch.neg(v)
    print("1: y =", y, "requires_grad =", getattr(y, "requires_grad", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    z = torch.sum(y, None, False)
    print("2: z =", z, "requires_grad =", getattr(z, "requires_grad", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    with torch.no_grad():
        x.mul_(3.0)
    print("3: x =", x, "requires_grad =", getattr(x, "requires_grad", None))
except Exception as error:
    print("3:", type(error).__name__, error)
try:
    g, = torch.autograd.grad([z], [v], None)
    print("4: g =", g, "requires_grad =", getattr(g, "requires_grad", None))
except Exception as error:
    print("4:", type(error).__name__, error)
print("after: x =", x)
