"""Case a42c02ae0c5d0c3b, for torch."""
import numpy as np
import torch

nan, inf = float('nan'), float('inf')
x8 = torch.from_numpy(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], dtype='float32').reshape((2, 4))).requires_grad_(True)

try:
    v9, v10, = torch.chunk(x8, len([2, 2]), -1)
    print("0: v9 =", v9, "requires_grad =", getattr(v9, "requires_grad", None))
    print("0: v10 =", v10, "requires_grad =", getattr(v10, "requires_grad", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    v11, v12, = torch.chunk(v9, len([1, 1]), -1)
    print("1: v11 =", v11, "requires_grad =", getattr(v11, "requires_grad", None))
    print("1: v12 =", v12, "requires_grad =", getattr(v12, "requires_grad", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    v13 = torch.nn.functional.log_softmax(v11, 0)
    print("2: v13 =", v13, "requires_grad =", getattr(v13, "requires_grad", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    v15 = torch.sum(v13, None, False)
    print("3: v15 =", v15, "requires_grad =", getattr(v15, "requires_grad", None))
except Exception as error:
    print("3:", type(error).__name__, error)
try:
    g19, = torch.autograd.grad([v15], [v10], None)
    print("4: g19 =", g19, "requires_grad =", getattr(g19, "requires_grad", None))
except Exception as error:
    print("4:", type(error).__name__, error)
try:
    torch.autograd.backward([v15], None)
    print("5: x8.grad =", x8.grad)
except Exception as error:
    print("5:", type(error).__name__, error)
print("after: x8 =", x8)
