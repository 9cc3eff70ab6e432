"""The gradient of a convolution in its input does not depend on the input; a second pass calls the input's hooks with None."""

import torch


def second_pass(differentiated, hooked):
    """Return what the hooks see in a second pass through the gradient of an op in ``x``, which is linear in it."""
    x = torch.ones(1, 1, 1, 1, requires_grad=True)
    y = differentiated(x)
    seed = torch.ones_like(y, requires_grad=True)
    (g,) = torch.autograd.grad(y, x, seed, create_graph=True)
    x.register_hook(hooked)
    g.backward()


weight = torch.ones(2, 1, 1, 1)
seen = []
second_pass(lambda x: x * weight, seen.append)
assert seen == []
second_pass(lambda x: torch.nn.functional.conv2d(x, weight), seen.append)
print(seen)  # [None]
assert seen == [None]
try:
    second_pass(lambda x: torch.nn.functional.conv2d(x, weight), lambda g: 2 * g)
except TypeError as error:
    print(error)  # unsupported operand type(s) for *: 'int' and 'NoneType'
else:
    raise AssertionError
