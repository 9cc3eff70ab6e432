import torch

x = torch.tensor([3.0, 5.0], requires_grad=True)
w = torch.tensor([2.0, 4.0], requires_grad=True)

gx, gw = torch.autograd.grad(x * x, [x, w], torch.eye(2), is_grads_batched=True, materialize_grads=True)
assert gx.shape == (2, 2)
assert gw.shape == (2, 2), f"the zeros for the unused w have shape {tuple(gw.shape)}, and (2, 2) is right"
