"""Named conditions on the numbers that ops meet: special points at which a released framework is wrong.

Like the others they look at the script, never at what a backend answered: the reference says what the operands are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.backends.reference import reference
from conformance.judge.formats import format_of
from conformance.outcome import Computed
from conformance.reading import until
from conformance.steps import Op, results
from reference_impl import PADDLE, TORCH
from reference_impl.primitives.elementary import SOFTPLUS_THRESHOLD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from conformance.case import Case

    Test = Callable[[Any, Mapping[str, Any]], Any]


def _met(case: Case, number: int) -> Iterator[tuple[str, Any, Mapping[str, Any]]]:
    """Yield every op up to a step, with its first operand and its attributes, in either dialect."""
    for dialect in (TORCH, PADDLE):
        with np.errstate(all="ignore"):
            outcome = reference(dialect, {}).run(case)
        known: dict[str, Any] = {entry.name: entry.array() for entry in case.inputs}
        for position, (step, seen) in enumerate(zip(case.steps, outcome.observations, strict=True)):
            if isinstance(step, Op) and step.operands and step.operands[0] in known and not (0 <= number < position):
                yield step.op, known[step.operands[0]], step.attrs
            if isinstance(seen, Computed):
                known.update({n: v.array for n, v in zip(results(step), seen.values, strict=False) if v is not None})


def meets(test: Test, *ops: str) -> Callable[[Case, int], bool]:
    """Make a condition: some element of the first operand of one of the ops passes a test of the operand and the attributes."""

    def condition(case: Case, number: int) -> bool:
        with np.errstate(all="ignore"):
            return any(op in ops and bool(np.any(test(x, attrs))) for op, x, attrs in _met(case, number))

    return condition


def exponent_is_zero(case: Case, number: int) -> bool:
    """Whether some power has an exponent of 0 among its elements, as far as inputs tell."""
    known = {entry.name: entry.array() for entry in case.inputs}
    return any(
        isinstance(step, Op) and step.op == "pow" and step.operands[1] in known and bool((known[step.operands[1]] == 0).any())
        for step in until(case, number)
    )


def quotient_beyond_range(case: Case, number: int) -> bool:
    """Whether some quotient, or the square of a divisor or of its reciprocal, leaves the range; as far as inputs tell."""
    known = {entry.name: entry.array() for entry in case.inputs}
    for step in until(case, number):
        if isinstance(step, Op) and step.op == "div" and known.keys() >= set(step.operands):
            x, y = (known[name] for name in step.operands)
            with np.errstate(all="ignore"):
                far = (np.abs(x) > _largest(x) / 4) | ~np.isfinite(x / y) | ~np.isfinite(1 / np.square(y)) | ~np.isfinite(np.square(y))
            if far.any():
                return True
    return False


def _largest(x: Any) -> float:
    return format_of(x.dtype).largest


def _exp(x: Any) -> Any:
    return np.exp(x.astype(np.float64) if x.dtype == np.float32 else x)


FAR = 64.0
"""From here on ``e^-x`` is so small, or ``e^x`` so large, that what is computed from it may leave the range of float32."""

POINT_CONDITIONS = {
    "prod_of_zeros_or_infinities": meets(lambda x, _: (x == 0) | ~np.isfinite(x) | (np.abs(x) > _largest(x) / 4), "prod"),
    "glu_of_largest": meets(lambda x, _: np.abs(x) > _largest(x) / 4, "glu"),
    "polar_of_nonpositive": meets(lambda x, _: x <= 0, "polar"),
    "relu_of_nan": meets(lambda x, _: np.isnan(x), "relu"),
    "hardshrink_at_bound": meets(lambda x, attrs: np.abs(x) == attrs["bound"], "hardshrink"),
    "leaky_relu_at_zero": meets(lambda x, _: x == 0, "leaky_relu"),
    "abs_of_infinity": meets(lambda x, _: np.isinf(x), "abs"),
    "logsumexp_of_infinities": meets(lambda x, _: np.isinf(x) | (np.abs(x) > FAR), "logsumexp"),
    "log_softmax_far": meets(lambda x, _: ~np.isfinite(x) | (np.abs(x) > FAR), "log_softmax"),
    "root_of_subnormal": meets(lambda x, _: np.abs(x) < format_of(x.dtype).tiny, "sqrt", "rsqrt"),
    "silu_far": meets(lambda x, _: np.abs(x) > FAR, "silu"),
    "softplus_far": meets(lambda x, attrs: np.abs(x * attrs["beta"]) > FAR, "softplus"),
    "softplus_at_threshold": meets(lambda x, attrs: x * attrs["beta"] == SOFTPLUS_THRESHOLD, "softplus"),
    "gelu_beyond_its_square": meets(lambda x, _: np.abs(x) > np.sqrt(_largest(x)), "gelu"),
    "exp_subnormal": lambda case, number: (
        meets(lambda x, _: _exp(x) < format_of(x.dtype).tiny, "exp")(case, number)
        or meets(lambda x, _: _exp(-np.square(x)) < format_of(x.dtype).tiny, "erf")(case, number)
    ),
    "erf_of_tiny": meets(lambda x, _: np.abs(x) < 4 * format_of(x.dtype).tiny, "erf"),
    "rsqrt_of_infinity": meets(lambda x, _: np.isposinf(x), "rsqrt"),
    "exponent_is_zero": exponent_is_zero,
    "quotient_beyond_range": quotient_beyond_range,
    "zero_base": meets(lambda x, _: x == 0, "pow"),
    "half_power_of_minus_zero_or_infinity": meets(
        lambda x, attrs: (attrs["exponent"] % 1 != 0) & (((x == 0) & np.signbit(x)) | np.isneginf(x)), "pow_scalar"
    ),
    "tiny_divisor": meets(lambda x, _: np.abs(x) < _largest(x) ** (-1 / 3), "rdiv_scalar"),
}
