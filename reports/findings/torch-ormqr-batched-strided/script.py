import torch

x = torch.ones(1, 2)[:, ::2].requires_grad_()  # one element, in a row of two
tau, y = torch.tensor([3.0], requires_grad=True), torch.ones(1, 1, requires_grad=True)
(g,) = torch.autograd.grad(torch.ormqr(x, tau, y), x, torch.ones(1, 1, requires_grad=True), create_graph=True)
torch.autograd.grad(g, (x, tau, y), torch.ones(1, 1), retain_graph=True, allow_unused=True)
try:
    torch.autograd.grad(g, (x, tau, y), torch.ones(1, 1, 1), is_grads_batched=True, allow_unused=True)
    message = ""
except RuntimeError as error:
    message = str(error)[:60]
assert not message, f"a batch of one seed is refused ({message}), where the seed alone is not"
