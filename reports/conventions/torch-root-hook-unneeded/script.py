import torch

x = torch.ones(2, requires_grad=True)
w = torch.ones(2, requires_grad=True)


def calls(outputs):
    seen = []
    outputs[0].register_hook(seen.append)
    torch.autograd.grad(outputs, [w], allow_unused=True)
    return len(seen)


one = calls([x.sum()])
two = calls([x.sum(), x.sum()])
assert one == two, f"the hook of the output runs {one} time(s) for one output, and {two} time(s) for two"
