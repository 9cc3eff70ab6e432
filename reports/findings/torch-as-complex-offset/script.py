"""Case 16f0f0a9cfb49cf2, for torch."""
import numpy as np
import torch

nan, inf = float('nan'), float('inf')
x = torch.from_numpy(np.array([1.0, 2.0, 3.0, 4.0], dtype='float32').reshape((4,))).requires_grad_(True)

try:
    v = x[tuple((slice(*k) for k in [[1, 3, 1]]))]
    print("0: v =", v, "requires_grad =", getattr(v, "requires_grad", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    y = torch.view_as_complex(v.contiguous())
    print("1: y =", y, "requires_grad =", getattr(y, "requires_grad", None))
except Exception as error:
    print("1:", type(error).__name__, error)
print("after: x =", x)
