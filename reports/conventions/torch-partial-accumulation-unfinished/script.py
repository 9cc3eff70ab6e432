import torch


def stop(grad):
    raise ValueError("stop")


def has_gradient(number, count):
    leaves = [torch.ones(2, requires_grad=True) for _ in range(count)]
    leaves[1].register_hook(stop)
    try:
        torch.stack(leaves).sum().backward()
    except ValueError:
        return leaves[number].grad is not None


of_three, of_four = has_gradient(2, 3), has_gradient(2, 4)
assert of_three == of_four, f"the third of four leaves has its gradient: {of_four}; the third of three: {of_three}"
