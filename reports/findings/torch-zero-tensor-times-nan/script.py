import torch

x = torch.tensor([3.0, 4.0], requires_grad=True)
(g,) = torch.autograd.grad(x.abs().sum(), x, create_graph=True)
(h,) = torch.autograd.grad(g.sum(), x)

v = torch.tensor([float("nan"), float("inf")])
assert (h.clone() * v).isnan().all()

product = (h * v).clone()
assert product.isnan().all(), f"a second derivative of zeros, times [nan, inf], is {product.tolist()}"
