"""Case e37603dd4dc6251e, for torch."""
import numpy as np
import torch

nan, inf = float('nan'), float('inf')
x0 = torch.from_numpy(np.array([1.0, 2.0, 3.0], dtype='float32').reshape((3,))).requires_grad_(True)
s4 = torch.from_numpy(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], dtype='float32').reshape((1, 3, 2))).requires_grad_(True)

try:
    v1 = torch.stack([x0, x0], 1)
    print("0: v1 =", v1, "requires_grad =", getattr(v1, "requires_grad", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    v2 = torch.flip(v1, [-2])
    print("1: v2 =", v2, "requires_grad =", getattr(v2, "requires_grad", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    v1.retain_grad()
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    v3 = torch.flip(v2, [0])
    print("3: v3 =", v3, "requires_grad =", getattr(v3, "requires_grad", None))
except Exception as error:
    print("3:", type(error).__name__, error)
try:
    g5, = torch.autograd.grad([v3], [x0], [s4], is_grads_batched=True)
    print("4: g5 =", g5, "requires_grad =", getattr(g5, "requires_grad", None))
    print("4: x0.grad =", x0.grad)
    print("4: s4.grad =", s4.grad)
    print("4: v1.grad =", v1.grad)
except Exception as error:
    print("4:", type(error).__name__, error)
print("after: x0 =", x0)
print("after: s4 =", s4)
