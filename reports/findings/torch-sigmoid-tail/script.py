"""Case 76d01ce9cdc9aba3, for torch."""
import numpy as np
import torch

nan, inf = float('nan'), float('inf')
x = torch.from_numpy(np.array([-89.7228394, -89.7228394, -89.7228394, -89.7228394, -89.7228394, -89.7228394, -89.7228394, -89.7228394, -89.7228394, -89.7228394, -89.7228394, -89.7228394, -89.7228394, -89.7228394, -89.7228394, -89.7228394], dtype='float32').reshape((16,))).requires_grad_(True)

try:
    y = torch.sigmoid(x)
    print("0: y =", y, "requires_grad =", getattr(y, "requires_grad", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    z = torch.sum(y, None, False)
    print("1: z =", z, "requires_grad =", getattr(z, "requires_grad", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    g, = torch.autograd.grad([z], [x], None)
    print("2: g =", g, "requires_grad =", getattr(g, "requires_grad", None))
except Exception as error:
    print("2:", type(error).__name__, error)
print("after: x =", x)
