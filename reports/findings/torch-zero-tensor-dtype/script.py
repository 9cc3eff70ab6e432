import torch

x = torch.tensor(2.0, requires_grad=True)
(g,) = torch.autograd.grad(x.abs(), x, create_graph=True)
(h,) = torch.autograd.grad(g, x)
assert h.dtype == torch.float32

dtype = (h + 1.0).dtype
assert dtype == torch.float32, f"a float32 gradient of 0 plus 1.0 is {dtype}"
