import torch

called = []
x = torch.empty(0, requires_grad=True)
x.register_hook(called.append)
y, _ = torch.native_dropout(x, 0.5, False)
torch.autograd.grad(y, x, torch.empty(0))
assert len(called) == 1, "the hook on x was not called for the gradient of x"
