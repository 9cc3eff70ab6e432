import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
v = torch.ones(2)

(g,) = torch.autograd.grad(x + 1, x, v)
g.mul_(3)
assert v.tolist() == [1.0, 1.0], f"a change of the gradient makes grad_outputs {v.tolist()}"
