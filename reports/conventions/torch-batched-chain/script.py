import torch

x = torch.tensor([2.0, 3.0], requires_grad=True)
v = torch.tensor([[1.0, 2.0], [5.0, 7.0]], requires_grad=True)
h = x * x
y = h * x

rows = [torch.autograd.grad(y, (h, x), row, create_graph=True) for row in v]
of_h, of_x = (torch.stack(gradients) for gradients in zip(*rows))
assert torch.autograd.grad(of_x, of_h, v, allow_unused=True) == (None,)

of_h, of_x = torch.autograd.grad(y, (h, x), v, create_graph=True, is_grads_batched=True)
(g,) = torch.autograd.grad(of_x, of_h, v, allow_unused=True)
assert g is None, f"the batch for x depends on that for h, by {g.tolist()}; of separate calls it does not"
