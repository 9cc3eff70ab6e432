"""Case cd4f0ad3231950ec, for torch."""
import numpy as np
import torch

nan, inf = float('nan'), float('inf')
x0 = torch.from_numpy(np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], dtype='float32').reshape((4, 3, 3))).requires_grad_(True)
s10 = torch.from_numpy(np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], dtype='float32').reshape((1, 4, 3, 3))).requires_grad_(True)

try:
    g11, = torch.autograd.grad([x0], [x0], [s10], create_graph=True, is_grads_batched=True)
    print("0: g11 =", g11, "requires_grad =", getattr(g11, "requires_grad", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    v19 = torch.sum(s10, None, False)
    print("1: v19 =", v19, "requires_grad =", getattr(v19, "requires_grad", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    g20, = torch.autograd.grad([v19], [g11], None, allow_unused=True)
    print("2: g20 =", g20, "requires_grad =", getattr(g20, "requires_grad", None))
except Exception as error:
    print("2:", type(error).__name__, error)
print("after: x0 =", x0)
print("after: s10 =", s10)
