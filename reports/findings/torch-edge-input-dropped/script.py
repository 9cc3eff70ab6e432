"""Case 48e30267846a873f, for torch."""
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
    e = torch.autograd.graph.get_gradient_edge(h)
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    torch.autograd.backward([z], None, inputs=[e])
    print("3: x.grad =", x.grad)
    print("3: h.grad =", h.grad)
except Exception as error:
    print("3:", type(error).__name__, error)
print("after: x =", x)
