"""JAX, eagerly, in double precision where the script says so: ``jax.vjp`` of functions over ``jax.numpy``."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.backends import BackendInfo, Registration
from conformance.backends.calls import Calls, Spelling
from conformance.backends.interpreter import Interpreter
from examples.engines.functional import FUNCTIONAL, Functional
from examples.engines.numpy_ops import spelled

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.backends.error_rules import Rule

REGISTRATION = Registration(opens=f"{__name__}:open_backend", title="JAX", requires="jax", static=True, forks=False, slowness=10)
OWN = {
    "rsqrt": "jax.lax.rsqrt(x)",
    "sigmoid": "jax.nn.sigmoid(x)",
    "silu": "jax.nn.silu(x)",
    "gelu": "jax.nn.gelu(x, approximate=False)",
    "erf": "jax.scipy.special.erf(x)",
    "relu": "jax.nn.relu(x)",
    "relu6": "jax.nn.relu6(x)",
    "leaky_relu": "jax.nn.leaky_relu(x, slope)",
    "logsumexp": "jax.nn.logsumexp(x, axis=axis, keepdims=keepdims)",
    "softmax": "jax.nn.softmax(x, axis)",
    "log_softmax": "jax.nn.log_softmax(x, axis)",
    "glu": "jax.nn.glu(x, axis)",
    "topk": "jax.numpy.flip(jax.numpy.sort(x, axis=axis), axis).take(jax.numpy.arange(k), axis)",
    "gather": (
        "jax.numpy.take_along_axis(x[tuple(slice(None) if i == axis % x.ndim else slice(n)"
        " for i, n in enumerate(jax.numpy.array(index).shape))], jax.numpy.array(index), axis)"
    ),
}
BY_FACTORS = replace(FUNCTIONAL, spelled={"tanh": "tanh_by_factors"})  # (g + g tanh) (1 - tanh), which is right, too
ERROR_RULES: tuple[Rule, ...] = ()


def open_backend() -> Interpreter:
    """Open JAX on the CPU."""
    import jax
    import jax.scipy.special

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")
    calls = Calls(Spelling("jax", {**spelled("jax.numpy"), **OWN}), jax)
    not_offered = {**FUNCTIONAL.not_offered, **calls.lacking()}
    info = BackendInfo("jax", version("jax"), BY_FACTORS, not_offered, kinks="any", alike=calls.alike())
    return Interpreter(info, Functional(calls, Jax(jax), ERROR_RULES))


class Jax:
    """Reverse mode by ``jax.vjp``."""

    def __init__(self, jax: Any) -> None:
        self.jax = jax

    def array(self, elements: Any) -> Any:
        return self.jax.numpy.array(elements)

    def plain(self, array: Any) -> Any:
        return np.array(array)

    def ones_like(self, array: Any) -> Any:
        return self.jax.numpy.ones_like(array)

    def gradient(self, function: Callable[[Any], list[Any]], x: Any, seeded: Callable[[list[Any]], list[Any]]) -> Any:
        values, pull = self.jax.vjp(function, x)
        return pull(seeded(values))[0]
