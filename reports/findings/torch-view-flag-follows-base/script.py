"""Case 49241dd6c805e862, for torch."""
import numpy as np
import torch

nan, inf = float('nan'), float('inf')
x1 = torch.from_numpy(np.array([1.0, 2.0], dtype='float32').reshape((2,))).requires_grad_(False)

try:
    v11, v12, = torch.split(x1, [1, 1], 0)
    print("0: v11 =", v11, "requires_grad =", getattr(v11, "requires_grad", None))
    print("0: v12 =", v12, "requires_grad =", getattr(v12, "requires_grad", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    x1.requires_grad = True
    print("1: x1 =", x1, "requires_grad =", getattr(x1, "requires_grad", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    v18 = torch.prod(v11, 0, False)
    print("2: v18 =", v18, "requires_grad =", getattr(v18, "requires_grad", None))
except Exception as error:
    print("2:", type(error).__name__, error)
print("after: x1 =", x1)
