"""Which operand has its gradient when the hook of another one ends the pass follows the nodes inside the op."""

import torch


def left_behind(product, *shapes):
    """Return the gradient of the first operand after a pass that the hook of the second one ended."""
    x, y = (torch.ones(shape, requires_grad=True) for shape in shapes)
    y.register_hook(lambda g: torch.ones(5))
    z = product(x, y)
    try:
        z.backward(torch.ones_like(z))
    except RuntimeError as error:
        print(error)  # hook ... has changed the size of value
        return x.grad
    raise AssertionError


whole = left_behind(torch.bmm, (1, 1, 3), (1, 3, 3))
parts = left_behind(torch.matmul, (3,), (3, 3))
print(whole, parts)  # tensor([[[3., 3., 3.]]]) None
assert whole is not None
assert parts is None
