"""Case 1d13c276d482f13e, for torch."""
import numpy as np
import torch

nan, inf = float('nan'), float('inf')
x = torch.from_numpy(np.array([-89.7228394, -89.7228394, -89.7228394, -89.7228394, -89.7228394, -89.7228394, -89.7228394, -89.7228394, -89.7228394, -89.7228394, -89.7228394, -89.7228394, -89.7228394, -89.7228394, -89.7228394, -89.7228394], dtype='float32').reshape((16,))).requires_grad_(True)

try:
    y = torch.nn.functional.silu(x)
    print("0: y =", y, "requires_grad =", getattr(y, "requires_grad", None))
except Exception as error:
    print("0:", type(error).__name__, error)
print("after: x =", x)
