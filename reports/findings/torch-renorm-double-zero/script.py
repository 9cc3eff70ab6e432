import torch

x = torch.tensor([[1.0, 0.5], [0.0, 0.0]], requires_grad=True)
y = torch.renorm(x, 2, 0, 10.0)  # both rows are shorter than 10, so y is x
(g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
assert g.tolist() == [[1.0, 1.0], [1.0, 1.0]]
(h,) = torch.autograd.grad(g.sum(), x)
assert h.tolist() == [[0.0, 0.0], [0.0, 0.0]], f"the second derivative is {h.tolist()}, and zeros are right: renorm is the identity here"
