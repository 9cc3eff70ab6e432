"""Case e503427245c7ee45, for torch."""
import numpy as np
import torch

nan, inf = float('nan'), float('inf')
x = torch.from_numpy(np.array([3.0, 5.0], dtype='float32').reshape((2,))).requires_grad_(True)
s = torch.from_numpy(np.array([1.0, 2.0, 3.0, 4.0], dtype='float32').reshape((2, 2))).requires_grad_(False)

try:
    class Function(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            f = x * 2.0
            ctx.save_for_backward()
            return f
        @staticmethod
        def backward(ctx, c):
            print("    y saw", c)
            b = c * 2.0
            return b
    y = Function.apply(x)
    print("0: y =", y, "requires_grad =", getattr(y, "requires_grad", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    dx, = torch.autograd.grad([y], [x], [s], is_grads_batched=True)
    print("1: dx =", dx, "requires_grad =", getattr(dx, "requires_grad", None))
except Exception as error:
    print("1:", type(error).__name__, error)
print("after: x =", x)
print("after: s =", s)
