"""Case 645fd47c74128012, for torch."""
import numpy as np
import torch

nan, inf = float('nan'), float('inf')
x0 = torch.from_numpy(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], dtype='float32').reshape((2, 3))).requires_grad_(True)
s3 = torch.from_numpy(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], dtype='float32').reshape((2, 3))).requires_grad_(False)

try:
    torch.autograd.backward([x0], [s3, s3])
    print("0: x0.grad =", x0.grad)
except Exception as error:
    print("0:", type(error).__name__, error)
print("after: x0 =", x0)
print("after: s3 =", s3)
