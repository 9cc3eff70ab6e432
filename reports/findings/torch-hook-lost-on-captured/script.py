import torch

x = torch.tensor(2.0, requires_grad=True)
h = x * x
h.register_hook(lambda grad: 10 * grad)
z = 3 * h

(alone,) = torch.autograd.grad(z, [h], retain_graph=True)
assert alone.item() == 30.0

gx, gh = torch.autograd.grad(z, [x, h])
assert gx.item() == 120.0
assert gh.item() == 30.0, f"the gradient for h is {gh.item()} if x is asked for too, and 30 is right"
