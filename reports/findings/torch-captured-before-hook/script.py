"""Case 705c97e131ea9548, for torch."""
import numpy as np
import torch

nan, inf = float('nan'), float('inf')
x = torch.from_numpy(np.array([1.0, 2.0], dtype='float32').reshape((2,))).requires_grad_(True)

try:
    y = torch.mul(x, x)
    print("0: y =", y, "requires_grad =", getattr(y, "requires_grad", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    u = torch.mul(y, y)
    print("1: u =", u, "requires_grad =", getattr(u, "requires_grad", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    z = torch.sum(u, None, False)
    print("2: z =", z, "requires_grad =", getattr(z, "requires_grad", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    def called_h(g):
        print("    h saw", g)
        return g * 10.0
    h = y.register_hook(called_h)
except Exception as error:
    print("3:", type(error).__name__, error)
try:
    dy, dx, = torch.autograd.grad([z], [y, x], None)
    print("4: dy =", dy, "requires_grad =", getattr(dy, "requires_grad", None))
    print("4: dx =", dx, "requires_grad =", getattr(dx, "requires_grad", None))
except Exception as error:
    print("4:", type(error).__name__, error)
print("after: x =", x)
