import torch


def stop(grad):
    raise ValueError("stop")


def grad_of(x):
    w = torch.ones(3, 3, requires_grad=True)
    w.register_hook(stop)
    try:
        (x @ w).sum().backward()
    except ValueError:
        return x.grad


matrix = grad_of(torch.ones(1, 3, requires_grad=True))
vector = grad_of(torch.ones(3, requires_grad=True))
assert (matrix is None) == (vector is None), f"x.grad is {matrix} for x of shape [1, 3], and {vector} for [3]"
