"""A small reference autograd engine on NumPy: what PyTorch and Paddle promise, in code that is there to be read.

Start with `tape.tensor` (the tape), then `tape.primitive` (what a rule is), then `reverse.engine` (`backward` and `grad`). The other
half works on programs that run later: `static.program`, and `static.transform` (`append_backward` and `gradients`).
"""

from reference_impl import primitives
from reference_impl.dialects.dialect import DIALECTS, PADDLE, PADDLE_STATIC, TORCH, Dialect
from reference_impl.errors import AutogradError, Category
from reference_impl.reverse.custom import apply_custom
from reference_impl.reverse.dump import call_stacks
from reference_impl.reverse.engine import backward, grad
from reference_impl.reverse.in_place import update_in_place
from reference_impl.static.program import Program, Variable, run
from reference_impl.static.transform import SGD, append_backward, gradients
from reference_impl.tape.edge import GradientEdge, gradient_edge
from reference_impl.tape.hooks import Handle, applied, register_hook, retain_grad, set_requires_grad
from reference_impl.tape.primitive import OPS
from reference_impl.tape.tensor import Tensor, no_grad, recording, tensor

__all__ = [
    "DIALECTS",
    "OPS",
    "PADDLE",
    "PADDLE_STATIC",
    "SGD",
    "TORCH",
    "AutogradError",
    "Category",
    "Dialect",
    "GradientEdge",
    "Handle",
    "Program",
    "Tensor",
    "Variable",
    "append_backward",
    "applied",
    "apply_custom",
    "backward",
    "call_stacks",
    "grad",
    "gradient_edge",
    "gradients",
    "no_grad",
    "primitives",
    "recording",
    "register_hook",
    "retain_grad",
    "run",
    "set_requires_grad",
    "tensor",
    "update_in_place",
]
