"""Case 9f61d5816d095997, for torch."""
import numpy as np
import torch

nan, inf = float('nan'), float('inf')
x1 = torch.from_numpy(np.array([], dtype='float32').reshape((0, 2))).requires_grad_(True)
s3 = torch.from_numpy(np.array([], dtype='float32').reshape((0, 2))).requires_grad_(False)
s4 = torch.from_numpy(np.array([], dtype='float32').reshape((0, 2, 2))).requires_grad_(False)
v2 = torch.from_numpy(np.array([], dtype='float32').reshape((0, 2))).requires_grad_(True)

try:
    torch.autograd.backward([v2, x1], [s3, s4])
    print("0: x1.grad =", x1.grad)
    print("0: v2.grad =", v2.grad)
except Exception as error:
    print("0:", type(error).__name__, error)
print("after: x1 =", x1)
print("after: s3 =", s3)
print("after: s4 =", s4)
print("after: v2 =", v2)
