"""Case cc582f0f6f41872e, for torch."""
import numpy as np
import torch

nan, inf = float('nan'), float('inf')
x0 = torch.from_numpy(np.array([1.0, 2.0, 3.0, 4.0], dtype='float32').reshape((2, 2))).requires_grad_(True)
s12 = torch.from_numpy(np.array([1.0, 2.0, 3.0, 4.0], dtype='float64').reshape((2, 2))).requires_grad_(True)
s16 = torch.from_numpy(np.array([1.0, 2.0, 3.0, 4.0], dtype='float32').reshape((2, 2))).requires_grad_(False)
s21 = torch.from_numpy(np.array([1.0, 2.0, 3.0, 4.0], dtype='float32').reshape((2, 2))).requires_grad_(False)

try:
    v3 = x0.to(getattr(torch, 'float64'))
    print("0: v3 =", v3, "requires_grad =", getattr(v3, "requires_grad", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    v4 = torch.masked_fill(v3, torch.tensor([[True, True], [True, False]]), 1.0)
    print("1: v4 =", v4, "requires_grad =", getattr(v4, "requires_grad", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    v4.relu_()
    print("2: v4 =", v4, "requires_grad =", getattr(v4, "requires_grad", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    e11 = torch.autograd.graph.get_gradient_edge(v4)
except Exception as error:
    print("3:", type(error).__name__, error)
try:
    g14, = torch.autograd.grad([e11], [x0], [s12], create_graph=True)
    print("4: g14 =", g14, "requires_grad =", getattr(g14, "requires_grad", None))
except Exception as error:
    print("4:", type(error).__name__, error)
try:
    v15 = torch.abs(g14)
    print("5: v15 =", v15, "requires_grad =", getattr(v15, "requires_grad", None))
except Exception as error:
    print("5:", type(error).__name__, error)
try:
    torch.autograd.backward([v15], [s16], retain_graph=True)
    print("6: x0.grad =", x0.grad)
    print("6: s12.grad =", s12.grad)
except Exception as error:
    print("6:", type(error).__name__, error)
try:
    v4.add_(1.5)
    print("7: v4 =", v4, "requires_grad =", getattr(v4, "requires_grad", None))
except Exception as error:
    print("7:", type(error).__name__, error)
try:
    torch.autograd.backward(g14, s21)
    print("8: x0.grad =", x0.grad)
    print("8: s12.grad =", s12.grad)
except Exception as error:
    print("8:", type(error).__name__, error)
print("after: x0 =", x0)
print("after: s12 =", s12)
print("after: s16 =", s16)
print("after: s21 =", s21)
