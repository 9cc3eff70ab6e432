"""Case 45ad79d669bdff1f, for torch."""
import numpy as np
import torch

nan, inf = float('nan'), float('inf')
x1 = torch.from_numpy(np.array([1.0, 2.0], dtype='float64').reshape((1, 2))).requires_grad_(True)
x2 = torch.from_numpy(np.array([1.0, 2.0, 3.0, 4.0], dtype='float64').reshape((2, 2))).requires_grad_(True)
x3 = torch.from_numpy(np.array([1.0, 2.0], dtype='float64').reshape((2,))).requires_grad_(True)

try:
    v4 = torch.nn.functional.linear(x1, x2, x3)
    print("0: v4 =", v4, "requires_grad =", getattr(v4, "requires_grad", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    v7 = torch.nn.functional.pad(v4, [n for p in zip([1, 1][::-1], [0, 0][::-1]) for n in p], value=0.5)
    print("1: v7 =", v7, "requires_grad =", getattr(v7, "requires_grad", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    def called_h8(g):
        print("    h8 saw", g)
        return g.double() if g.dtype == torch.float32 else g.float()
    h8 = x2.register_hook(called_h8)
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    v10 = torch.sum(v7, None, False)
    print("3: v10 =", v10, "requires_grad =", getattr(v10, "requires_grad", None))
except Exception as error:
    print("3:", type(error).__name__, error)
try:
    e11 = torch.autograd.graph.get_gradient_edge(v10)
except Exception as error:
    print("4:", type(error).__name__, error)
try:
    torch.autograd.backward([e11], None)
    print("5: x1.grad =", x1.grad)
    print("5: x2.grad =", x2.grad)
    print("5: x3.grad =", x3.grad)
except Exception as error:
    print("5:", type(error).__name__, error)
print("after: x1 =", x1)
print("after: x2 =", x2)
print("after: x3 =", x3)
