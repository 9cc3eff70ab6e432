import torch

r = torch.tensor(0.0, requires_grad=True)
y = torch.polar(r, torch.tensor(0.0))

y.real.backward()
assert r.grad.item() == 1.0, f"the gradient of polar in abs is {r.grad.item()} at abs = 0, and 1 is right"
