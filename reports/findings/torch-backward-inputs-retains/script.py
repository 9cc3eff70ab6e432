"""Case 9546fb099eba23f9, for torch."""
import numpy as np
import torch

nan, inf = float('nan'), float('inf')
x0 = torch.from_numpy(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], dtype='float32').reshape((4, 2))).requires_grad_(True)

try:
    v3 = torch.tile(x0, [2, 1, 1])
    print("0: v3 =", v3, "requires_grad =", getattr(v3, "requires_grad", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    v7 = torch.sum(v3, None, False)
    print("1: v7 =", v7, "requires_grad =", getattr(v7, "requires_grad", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    torch.autograd.backward([v7], None, inputs=[v3])
    print("2: x0.grad =", x0.grad)
    print("2: v3.grad =", v3.grad)
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    torch.autograd.backward([v7], None)
    print("3: x0.grad =", x0.grad)
    print("3: v3.grad =", v3.grad)
except Exception as error:
    print("3:", type(error).__name__, error)
print("after: x0 =", x0)
