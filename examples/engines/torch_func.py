"""``torch.func``: PyTorch's functional transforms, which differentiate functions of tensors, as often as one likes.

What is known of PyTorch, which computes all of it, is known of this (``variant_of``).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.backends import BackendInfo, Registration
from conformance.backends.calls import Calls
from conformance.backends.interpreter import Interpreter
from conformance.backends.torch.errors import ERROR_RULES
from examples.engines.functional import FUNCTIONAL, Functional
from reference_impl import TORCH

if TYPE_CHECKING:
    from collections.abc import Callable

REGISTRATION = Registration(opens=f"{__name__}:open_backend", title="torch.func", requires="torch", static=True)

LIKE_TORCH = replace(
    FUNCTIONAL,
    ties=TORCH.ties,
    leaky_at_zero=TORCH.leaky_at_zero,
    promotion=TORCH.promotion,
    spelled={"det": "det_by_values"},  # of singular values, unlike eager PyTorch: https://github.com/pytorch/pytorch/issues/192521
)


def open_backend() -> Interpreter:
    """Open PyTorch on the CPU, with one thread."""
    import torch

    torch.set_num_threads(1)
    calls = Calls("torch", torch)
    not_offered = {**FUNCTIONAL.not_offered, **calls.lacking()}
    info = BackendInfo("torch_func", torch.__version__, LIKE_TORCH, not_offered, variant_of="torch")
    return Interpreter(info, Functional(calls, TorchFunc(torch), ERROR_RULES))


class TorchFunc:
    """Reverse mode by ``torch.func.vjp``."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch

    def array(self, elements: Any) -> Any:
        return self.torch.from_numpy(elements)

    def ones_like(self, array: Any) -> Any:
        return self.torch.ones_like(array)

    def gradient(self, function: Callable[[Any], list[Any]], x: Any, seeded: Callable[[list[Any]], list[Any]]) -> Any:
        values, pull = self.torch.func.vjp(function, x)
        return pull(seeded(values))[0]

    def plain(self, array: Any) -> Any:
        return array.detach().clone().numpy()
