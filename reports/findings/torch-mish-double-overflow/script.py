import torch

x = torch.tensor([50.0, 100.0], requires_grad=True)
y = torch.nn.functional.mish(x)
(g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
assert g.tolist() == [1.0, 1.0]

(h,) = torch.autograd.grad(g.sum(), x)
assert h.tolist() == [0.0, 0.0], f"the second derivative of mish at 50 and 100 is {h.tolist()}, and 0 is right"
