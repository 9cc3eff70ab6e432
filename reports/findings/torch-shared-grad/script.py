import torch

params = [torch.nn.Parameter(torch.tensor(1.0)) for _ in range(4)]
for _ in range(3):
    torch.stack(params).sum().backward()

grads = [p.grad.item() for p in params]
assert grads == [3.0, 3.0, 3.0, 3.0], f"after three calls the gradients are {grads}, and 3 each is right"
