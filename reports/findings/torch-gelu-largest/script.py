"""Case 14126657bf2c0885, for torch."""
import numpy as np
import torch

nan, inf = float('nan'), float('inf')
x = torch.from_numpy(np.array([3.4028234663852886e+38, inf, 3.4028234663852886e+38, inf, 3.4028234663852886e+38, inf, 3.4028234663852886e+38, inf, 3.4028234663852886e+38, inf, 3.4028234663852886e+38, inf, 3.4028234663852886e+38, inf, 3.4028234663852886e+38, inf], dtype='float32').reshape((16,))).requires_grad_(True)

try:
    y = torch.nn.functional.gelu(x)
    print("0: y =", y, "requires_grad =", getattr(y, "requires_grad", None))
except Exception as error:
    print("0:", type(error).__name__, error)
print("after: x =", x)
