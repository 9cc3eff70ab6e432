"""Case 6fbe6ea97cd8f815, for torch."""
import numpy as np
import torch

nan, inf = float('nan'), float('inf')
x = torch.from_numpy(np.array([3.0, 5.0], dtype='float32').reshape((2,))).requires_grad_(True)
w = torch.from_numpy(np.array([2.0, 4.0], dtype='float32').reshape((2,))).requires_grad_(True)
s = torch.from_numpy(np.array([1.0, 0.0, 0.0, 1.0], dtype='float32').reshape((2, 2))).requires_grad_(False)

try:
    h = torch.mul(x, x)
    print("0: h =", h, "requires_grad =", getattr(h, "requires_grad", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    dx, dw, = torch.autograd.grad([h], [x, w], [s], materialize_grads=True, is_grads_batched=True)
    print("1: dx =", dx, "requires_grad =", getattr(dx, "requires_grad", None))
    print("1: dw =", dw, "requires_grad =", getattr(dw, "requires_grad", None))
except Exception as error:
    print("1:", type(error).__name__, error)
print("after: x =", x)
print("after: w =", w)
print("after: s =", s)
