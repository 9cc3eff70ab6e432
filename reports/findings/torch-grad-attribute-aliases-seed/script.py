import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
v = torch.ones(2, 1)

x.reshape(2, 1).backward(v)
v.mul_(3)
assert x.grad.tolist() == [1.0, 1.0], f"x.grad is {x.grad.tolist()} after a change of v, and [1, 1] is right"
