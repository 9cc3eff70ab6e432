"""How a person writes a case for PyTorch."""

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
    """Write a case as a script that imports PyTorch and NumPy alone."""
    return eager_script(case, TorchPrinter(), promised)


class TorchPrinter:
    """`Printer` in the words of ``torch`` and ``torch.autograd``."""

    title = "torch"
    imports = "import torch"
    no_grad = "torch.no_grad()"
    recording = "torch.is_grad_enabled()"
    another_dtype = "g.double() if g.dtype == torch.float32 else g.float()"
    spelling = Spelling("torch")

    def leaf(self, entry: Input) -> str:
        return f"torch.from_numpy({array_text(entry)}).requires_grad_({entry.differentiable})"

    def backward(self, step: Backward) -> str:
        return backward_text(step, "torch.autograd.backward")

    def grad(self, step: Grad) -> str:
        return grad_text(step, "torch.autograd.grad")

    def custom(self, step: Custom, seen: Sequence[str]) -> list[str]:
        return function_text(step, self.spelling, base="torch.autograd.Function", saved="ctx.saved_tensors", seen=seen)

    def clear_grad(self, tensor: str, to: str) -> str:
        zero = f"torch.zeros_like({tensor}.grad) if {tensor}.grad is not None else None"
        return f"{tensor}.grad = {'None' if to == 'none' else zero}"

    def detach(self, tensor: str) -> str:
        return f"{tensor}.detach()"

    def retain_grad(self, tensor: str) -> str:
        return f"{tensor}.retain_grad()"

    def toggle(self, tensor: str, requires_grad: bool) -> str:
        return f"{tensor}.requires_grad = {requires_grad}"

    def hook(self, tensor: str, function: str) -> str:
        return f"{tensor}.register_hook({function})"

    def remove_hook(self, handle: str) -> str:
        return f"{handle}.remove()"

    def edge(self, tensor: str, name: str) -> str:
        return f"{name} = torch.autograd.graph.get_gradient_edge({tensor})"

    def grad_of(self, tensor: str) -> str:
        return f"{tensor}.grad"

    def array(self, tensor: str) -> str:
        return f"{tensor}.clone().numpy(force=True)"

    def flag(self, tensor: str, requires_grad: bool) -> str:
        return f"{tensor}.requires_grad is {requires_grad}"
