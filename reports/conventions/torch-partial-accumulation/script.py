import torch


def stop(grad):
    raise ValueError("stop")


def reached(count):
    leaves = [torch.ones(2, requires_grad=True) for _ in range(count)]
    leaves[1].register_hook(stop)
    try:
        torch.stack(leaves).sum().backward()
    except ValueError:
        return [number for number, leaf in enumerate(leaves) if leaf.grad is not None]


three, four = reached(3), reached(4)
assert three == four, f"of three leaves {three} have their gradient, and of four {four}; the hook of 1 raised"
