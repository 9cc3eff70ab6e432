"""Case dee0898da4b3ed7d, for torch."""
import numpy as np
import torch

nan, inf = float('nan'), float('inf')
x1 = torch.from_numpy(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], dtype='float32').reshape((2, 4))).requires_grad_(True)

try:
    with torch.no_grad():
        v2, v3, = torch.chunk(x1, len([2, 2]), -1)
    print("0: v2 =", v2, "requires_grad =", getattr(v2, "requires_grad", None))
    print("0: v3 =", v3, "requires_grad =", getattr(v3, "requires_grad", None))
except Exception as error:
    print("0:", type(error).__name__, error)
print("after: x1 =", x1)
