"""Case f6d05f6619cb89dc, for torch."""
import numpy as np
import torch

nan, inf = float('nan'), float('inf')
x11 = torch.from_numpy(np.array([1.0, 0.0], dtype='float32').reshape((2, 1))).requires_grad_(True)

try:
    v12 = torch.squeeze(x11, 1)
    print("0: v12 =", v12, "requires_grad =", getattr(v12, "requires_grad", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    def called_h13(g):
        print("    h13 saw", g)
        return None
    h13 = v12.register_hook(called_h13)
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    with torch.no_grad():
        v12.square_()
    print("2: v12 =", v12, "requires_grad =", getattr(v12, "requires_grad", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    v14 = torch.sum(v12, None, False)
    print("3: v14 =", v14, "requires_grad =", getattr(v14, "requires_grad", None))
except Exception as error:
    print("3:", type(error).__name__, error)
try:
    torch.autograd.backward(v14, None)
    print("4: x11.grad =", x11.grad)
except Exception as error:
    print("4:", type(error).__name__, error)
print("after: x11 =", x11)
