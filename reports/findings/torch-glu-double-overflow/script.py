import torch

x = torch.tensor([3e38, 0.0], requires_grad=True)
(g,) = torch.autograd.grad(torch.nn.functional.glu(x), x, create_graph=True)
(h,) = torch.autograd.grad(g[1], x, torch.tensor(2.0))
assert h.tolist() == [0.5, 0.0], f"the derivative of the gradient in b is {h.tolist()}, and [0.5, 0] is right"
