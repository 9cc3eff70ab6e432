"""HIPS autograd: NumPy with a tape underneath, and ``make_vjp``, which differentiates functions of arrays."""

from __future__ import annotations

import warnings
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.backends import BackendInfo, Registration
from conformance.backends.calls import Calls, Spelling
from conformance.backends.interpreter import Interpreter
from examples.engines.functional import FUNCTIONAL, Functional
from examples.engines.numpy_ops import spelled
from reference_impl import Category

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.backends.error_rules import Rule

REGISTRATION = Registration(opens=f"{__name__}:open_backend", title="HIPS autograd", requires="autograd", static=True)
OWN = {"erf": "autograd.scipy.special.erf(x)"}
NOT_OFFERED = {"op:flip": "np.flip has no derivative"}
BY_QUOTIENTS = replace(FUNCTIONAL, spelled={"abs": "abs_by_quotient", "prod": "prod_by_quotient"})  # conj(x) / abs(x), and prod(x) / x
ERROR_RULES: tuple[Rule, ...] = ((NotImplementedError, "VJP of", Category.NOT_IMPLEMENTED),)


def open_backend() -> Interpreter:
    """Open it; it computes with NumPy."""
    import autograd
    import autograd.numpy

    with suppress(ImportError):  # where there is no SciPy it has no erf, which is not offered then
        import autograd.scipy.special
    warnings.filterwarnings("ignore", message="Output seems independent of input")  # and then its gradient is zeros
    calls = Calls(Spelling("autograd", {**spelled("autograd.numpy"), **OWN}), autograd)
    not_offered = {**FUNCTIONAL.not_offered, **calls.lacking(), **NOT_OFFERED}
    info = BackendInfo("hips", version("autograd"), BY_QUOTIENTS, not_offered, kinks="any", alike=calls.alike())
    return Interpreter(info, Functional(calls, Hips(autograd), ERROR_RULES))


class Hips:
    """Reverse mode by ``autograd.make_vjp``."""

    def __init__(self, autograd: Any) -> None:
        self.autograd = autograd

    def array(self, elements: Any) -> Any:
        return elements

    def plain(self, array: Any) -> Any:
        return np.array(array)

    def ones_like(self, array: Any) -> Any:
        return np.ones(array.shape, array.dtype)

    def gradient(self, function: Callable[[Any], list[Any]], x: Any, seeded: Callable[[list[Any]], list[Any]]) -> Any:
        def listed(array: Any) -> Any:
            return self.autograd.builtins.list(function(array))

        pull, values = self.autograd.make_vjp(listed)(x)
        return pull(seeded(values))
