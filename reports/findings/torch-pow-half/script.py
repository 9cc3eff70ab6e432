"""Case 0637ce9ba966a35e, for torch."""
import numpy as np
import torch

nan, inf = float('nan'), float('inf')
x = torch.from_numpy(np.array([-0.0, -inf], dtype='float32').reshape((2,))).requires_grad_(True)

try:
    y = torch.pow(x, -0.5)
    print("0: y =", y, "requires_grad =", getattr(y, "requires_grad", None))
except Exception as error:
    print("0:", type(error).__name__, error)
print("after: x =", x)
