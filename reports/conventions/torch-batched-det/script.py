import torch

x = torch.tensor([[2.0, 0.03, -0.05], [0.002, 1.0, 0.02], [0.001, 0.04, 3.0]], requires_grad=True)
wide = x.detach().double().requires_grad_()
(right,) = torch.autograd.grad(torch.linalg.det(wide), wide)
y = torch.linalg.det(x)
(alone,) = torch.autograd.grad(y, x, retain_graph=True)
(batch,) = torch.autograd.grad(y, x, torch.ones(1), create_graph=True, is_grads_batched=True)
off = [((found - right) / right).abs().max().item() for found in (alone, batch[0])]
assert off[0] < 1e-6
assert off[1] < 1e-6, f"with a batch of seeds an element is off by {off[1]:.1e} of itself, and by {off[0]:.1e} with one seed"
