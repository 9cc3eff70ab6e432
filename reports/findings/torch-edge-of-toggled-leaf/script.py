"""Case 013855371c10bfbd, for torch."""
import numpy as np
import torch

nan, inf = float('nan'), float('inf')
x = torch.from_numpy(np.array([3.0, 5.0], dtype='float32').reshape((2,))).requires_grad_(True)

try:
    h = torch.mul(x, x)
    print("0: h =", h, "requires_grad =", getattr(h, "requires_grad", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    z = torch.sum(h, None, False)
    print("1: z =", z, "requires_grad =", getattr(z, "requires_grad", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    e = torch.autograd.graph.get_gradient_edge(x)
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    x.requires_grad = False
    print("3: x =", x, "requires_grad =", getattr(x, "requires_grad", None))
except Exception as error:
    print("3:", type(error).__name__, error)
try:
    dx, = torch.autograd.grad([z], [e], None, retain_graph=True)
    print("4: dx =", dx, "requires_grad =", getattr(dx, "requires_grad", None))
except Exception as error:
    print("4:", type(error).__name__, error)
try:
    dx2, = torch.autograd.grad([z], [x], None)
    print("5: dx2 =", dx2, "requires_grad =", getattr(dx2, "requires_grad", None))
except Exception as error:
    print("5:", type(error).__name__, error)
print("after: x =", x)
