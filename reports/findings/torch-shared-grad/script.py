import torch

x, y = torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.ones(2))
for _ in range(2):
    loss = (x.reshape(2, 1) + y.reshape(2, 1)).square().sum()
    loss.backward()

grads = x.grad.tolist() + y.grad.tolist()
assert grads == [8.0] * 4, f"after two calls the gradients are {grads}, and 8 each is right"
