"""How a person writes a case for Paddle in eager mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.backends.calls import Spelling
from conformance.backends.repro.eager import eager_script
from conformance.backends.repro.python_text import array_text, backward_text, function_text, grad_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.backends.repro.claims import Promised
    from conformance.case.case import Case, Input
    from conformance.case.steps import Backward, Custom, Grad


def script(case: Case, promised: Promised) -> str:
    """Write a case as a script that imports Paddle and NumPy alone."""
    return eager_script(case, PaddlePrinter(), promised)


class PaddlePrinter:
    """`Printer` in the words of ``paddle`` and ``paddle.autograd``."""

    title = "paddle"
    imports = "import paddle"
    no_grad = "paddle.no_grad()"
    recording = "paddle.is_grad_enabled()"
    another_dtype = "g.cast('float64' if g.dtype == paddle.float32 else 'float32')"
    spelling = Spelling("paddle")

    def leaf(self, entry: Input) -> str:
        return f"paddle.to_tensor({array_text(entry)}, stop_gradient={not entry.differentiable})"

    def backward(self, step: Backward) -> str:
        return backward_text(step, "paddle.autograd.backward")

    def grad(self, step: Grad) -> str:
        return grad_text(step, "paddle.grad")

    def custom(self, step: Custom, seen: Sequence[str]) -> list[str]:
        base, saved = "paddle.autograd.PyLayer", "ctx.saved_tensor()"
        return function_text(step, self.spelling, base=base, saved=saved, marks="ctx.mark_not_inplace", seen=seen)

    def clear_grad(self, tensor: str, to: str) -> str:
        return f"{tensor}.clear_gradient({to == 'zero'})"

    def detach(self, tensor: str) -> str:
        return f"{tensor}.detach()"

    def retain_grad(self, tensor: str) -> str:
        return f"{tensor}.retain_grads()"

    def toggle(self, tensor: str, requires_grad: bool) -> str:
        return f"{tensor}.stop_gradient = {not requires_grad}"

    def hook(self, tensor: str, function: str) -> str:
        return f"{tensor}.register_hook({function})"

    def remove_hook(self, handle: str) -> str:
        return f"{handle}.remove()"

    def edge(self, tensor: str, name: str) -> str:
        return f"raise NotImplementedError('Paddle has no gradient edges: {name} of {tensor}')"

    def grad_of(self, tensor: str) -> str:
        return f"{tensor}.grad"

    def array(self, tensor: str) -> str:
        return f"{tensor}.numpy()"

    def flag(self, tensor: str, requires_grad: bool) -> str:
        return f"{tensor}.stop_gradient is {not requires_grad}"
