import torch

x = torch.tensor([0.7], requires_grad=True)
v, w = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)

(g,) = torch.autograd.grad(torch.sinc(x), x, v, create_graph=True)
of_x, of_v = torch.autograd.grad(g, (x, v), w, create_graph=True)
torch.autograd.grad(of_v, w)
try:
    of_x.backward()
except RuntimeError as error:
    raise AssertionError("the derivative of sinc by x is refused after a pass through that by the incoming gradient") from error
