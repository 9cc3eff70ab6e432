import torch

x = torch.ones(3, requires_grad=True)
scale = torch.tensor(3.0, requires_grad=True)
y = x.sum()
y.register_hook(lambda grad: scale)

(g,) = torch.autograd.grad(y, x)
assert g.tolist() == [3.0, 3.0, 3.0]
assert not g.requires_grad, f"the gradient has requires_grad=True and grad_fn={g.grad_fn}, without create_graph"
