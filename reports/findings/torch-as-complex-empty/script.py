"""Case eb4cf40819bdaafd, for torch."""
import numpy as np
import torch

nan, inf = float('nan'), float('inf')
x = torch.from_numpy(np.array([], dtype='float32').reshape((2, 0))).requires_grad_(True)

try:
    u = torch.t(x)
    print("0: u =", u, "requires_grad =", getattr(u, "requires_grad", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    y = torch.view_as_complex(u.contiguous())
    print("1: y =", y, "requires_grad =", getattr(y, "requires_grad", None))
except Exception as error:
    print("1:", type(error).__name__, error)
print("after: x =", x)
