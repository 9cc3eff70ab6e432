import torch


def stop(grad):
    raise ValueError("stop")


def weight_grad(x):
    w = torch.ones(2, 2, requires_grad=True)
    x.register_hook(stop)
    try:
        torch.nn.functional.linear(x, w, torch.ones(2)).sum().backward()
    except ValueError:
        return w.grad


batch = weight_grad(torch.ones(1, 2, requires_grad=True))
single = weight_grad(torch.ones(2, requires_grad=True))
assert batch is None or single is not None, "w.grad is set for x of shape [1, 2], and None for [2]"
assert batch is not None or single is None, "w.grad is None for x of shape [1, 2], and set for [2]"
