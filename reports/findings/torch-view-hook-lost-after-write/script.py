import torch

x = torch.ones(2, requires_grad=True)


def calls(v):
    seen = []
    v.register_hook(seen.append)
    with torch.no_grad():
        v.mul_(3)
    v.sum().backward()
    return len(seen)


assert calls(x * 1) == 1
assert calls(x[:]) == 1, "the hook on the view is not called after a change inside no_grad"
