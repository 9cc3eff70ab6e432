import torch

x = torch.tensor([[[1.0, 2.0], [4.0, 8.0]]], requires_grad=True)
y = torch.nn.functional.group_norm(x, 1, torch.tensor([1.0, 3.0]))
seed = torch.tensor([[[1.0, 0.0], [0.0, 0.0]]])

(one,) = torch.autograd.grad(y, x, seed, create_graph=True)
(batch,) = torch.autograd.grad(y, x, seed[None], create_graph=True, is_grads_batched=True)
assert torch.allclose(batch[0], one), f"the only gradient of a batch is {batch[0].tolist()}, and {one.tolist()} is right"
