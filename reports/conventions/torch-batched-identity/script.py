import torch

x = torch.tensor([2.0, 3.0], requires_grad=True)
v = torch.ones(1, 2)

(g,) = torch.autograd.grad(x, x, v, is_grads_batched=True)
g.mul_(3)
assert v.tolist() == [[1.0, 1.0]], f"a change of the gradient makes grad_outputs {v.tolist()}"
