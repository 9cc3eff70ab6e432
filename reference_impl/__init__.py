"""A small reference autograd engine on NumPy: what PyTorch and Paddle promise, in code that can be read in a sitting.

Start with `tensor` (the tape), then `primitive` (what a rule is), then `engine` (`backward` and `grad`).
"""

from reference_impl import primitives
from reference_impl.dialect import DIALECTS, PADDLE, TORCH, Dialect
from reference_impl.engine import backward, grad
from reference_impl.errors import AutogradError, Category
from reference_impl.hooks import Handle, register_hook, retain_grad, set_requires_grad
from reference_impl.in_place import update_in_place
from reference_impl.primitive import OPS
from reference_impl.tensor import Tensor, no_grad, recording, tensor

__all__ = [
    "DIALECTS",
    "OPS",
    "PADDLE",
    "TORCH",
    "AutogradError",
    "Category",
    "Dialect",
    "Handle",
    "Tensor",
    "backward",
    "grad",
    "no_grad",
    "primitives",
    "recording",
    "register_hook",
    "retain_grad",
    "set_requires_grad",
    "tensor",
    "update_in_place",
]
