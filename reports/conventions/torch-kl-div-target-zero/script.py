import torch

log_p = torch.tensor([-1.0, -1.0])
q = torch.tensor([0.0, 0.5], requires_grad=True)
loss = torch.nn.functional.kl_div(log_p, q, reduction="sum")
(g,) = torch.autograd.grad(loss, q)
assert not g.isnan().any(), f"the gradient of kl_div in the target {q.tolist()} is {g.tolist()}; that of q log q at 0 is -inf"
