"""Conditions on special points that no word for a value says: what is computed from an operand, or from two of them.

Everything simpler is data, see `conformance.deviations.points`.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.case.queries import comes_by
from conformance.case.steps import Hook, Op, SetRequiresGrad, results
from conformance.deviations.conditions.registry import condition
from conformance.deviations.points import is_quotient_beyond_range, promised_arrays
from conformance.ops.dtypes import format_of
from reference_impl.primitives.norms import EXTREMA

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from conformance.case.case import Case


def _meets(case: Case, number: int, op: str, test: Callable[..., Any]) -> bool:
    """Whether the step is a call of an op whose operands and attributes pass a test for some element, in any dialect."""
    step = case.steps[number]
    if not isinstance(step, Op) or step.op != op:
        return False
    given = [[values[n] for n in step.operands] for values in promised_arrays(case, number) if values.keys() >= set(step.operands)]
    with np.errstate(all="ignore"):
        return any(bool(np.any(test(*operands, **step.attrs))) for operands in given)


def _subnormal(exponent: Any) -> Any:
    """Where ``e`` to the power of something is below the normal numbers of its dtype."""
    wide = exponent.astype(np.float64) if exponent.dtype == np.float32 else exponent
    return np.exp(wide) < format_of(exponent.dtype).tiny


EXPONENTS: Mapping[str, Callable[..., Any]] = {
    "exp": lambda x: x,
    "erf": lambda x: -np.square(x),
    "logaddexp": lambda x, y: -np.abs(x - y),
    "soft_margin_loss": lambda x, *, target, **_: x * -np.asarray(target, x.dtype),
    "poisson_nll_loss": lambda x, _y, *, log_input, **_: x if log_input else np.zeros_like(x),
}
"""By op, what it takes an exponential of, in its result or in a derivative."""


@condition
def exponential_subnormal(case: Case, number: int) -> bool:
    """Whether exp, or an exponential that another op takes, has a result that is subnormal."""
    return any(_meets(case, number, op, partial(_is_subnormal_of, exponent)) for op, exponent in EXPONENTS.items())


def _is_subnormal_of(exponent: Callable[..., Any], *operands: Any, **attrs: Any) -> Any:
    return _subnormal(exponent(*operands, **attrs))


@condition
def eigenvalues_of_several(case: Case, number: int) -> bool:
    """Whether the step takes the eigenvalues of several matrices at once."""
    return any(_meets(case, number, op, lambda x: math.prod(x.shape[:-2]) > 1) for op in ("eigvalsh", "eigh_invariant"))


@condition
def squares_of_point_beyond_range(case: Case, number: int) -> bool:
    """Whether an angle is that of a point whose squared distance, its reciprocal, or a coordinate leaves the normal numbers."""

    def leaves(x: Any, y: Any) -> Any:
        known = format_of(x.dtype)
        squared = np.square(x) + np.square(y)
        least = [np.where(a == 0, 1.0, np.abs(a)) for a in (x, y)]  # a coordinate may be 0
        return ~np.isfinite(squared) | (1 / squared < known.tiny) | (squared < 4 * known.tiny) | (np.minimum(*least) < 4 * known.tiny)

    return _meets(case, number, "atan2", leaves)


@condition
def quotient_of_length_beyond_range(case: Case, number: int) -> bool:
    """Whether hypot is 0 or infinite, or so large that an operand times what arrives may overflow, or so small that a quotient does."""

    def leaves(x: Any, y: Any) -> Any:
        length, known = np.hypot(x, y), format_of(x.dtype)
        return ~np.isfinite(length) | (length < 1 / math.sqrt(known.largest)) | (length > math.sqrt(known.largest))

    return _meets(case, number, "hypot", leaves)


@condition
def length_of_squares_beyond_range(case: Case, number: int) -> bool:
    """Whether the square of an operand of hypot leaves the normal numbers, or of the length, or of its reciprocal."""

    def leaves(x: Any, y: Any) -> Any:
        known = format_of(x.dtype)
        least = np.minimum(*[np.where(a == 0, 1.0, np.abs(a)) for a in (x, y)])  # an operand may be 0, and the other not
        squared = np.square(x) + np.square(y)
        return ~np.isfinite(squared) | (squared < 4 * known.tiny) | (1 / squared < 4 * known.tiny) | (np.square(least) < 4 * known.tiny)

    return _meets(case, number, "hypot", leaves)


@condition
def negative_power_of_two(case: Case, number: int) -> bool:
    """Whether ldexp has an exponent below 0."""
    return _meets(case, number, "ldexp", lambda _, *, exponent: np.less(exponent, 0))


@condition
def quotient_beyond_range(case: Case, number: int) -> bool:
    """Whether a quotient, or the square of a divisor or of its reciprocal, leaves the range."""
    return _meets(case, number, "div", is_quotient_beyond_range)


@condition
def half_power_of_minus_zero_or_infinity(case: Case, number: int) -> bool:
    """Whether a power that is no integer has -0 or -inf for its base: operand and attribute are special together."""

    def is_half(x: Any, exponent: float) -> Any:
        if np.iscomplexobj(x):  # which has no sign
            return False
        return (exponent % 1 != 0) & (((x == 0) & np.signbit(x)) | np.isneginf(x))

    return _meets(case, number, "pow_scalar", is_half)


@condition
def reduced_with_ignored_targets(case: Case, number: int) -> bool:
    """Whether the step is the mean or the sum of an nll_loss of which a target is ignored that is not the first."""
    step = case.steps[number]
    if not isinstance(step, Op) or step.op != "nll_loss" or step.attrs["reduction"] == "none":
        return False
    others = np.ravel(step.attrs["target"])[1:]  # what is put at the place of the first is overwritten by the result
    return bool(np.equal(others, step.attrs["ignore_index"]).any())


@condition
def extremum_along_several_of_five_axes(case: Case, number: int) -> bool:
    """Whether the step is amin or amax along several axes, but not all, of five or more."""

    def several(x: Any, *, axis: list[int] | None, keepdims: bool) -> bool:  # noqa: ARG001 - an attribute of the ops
        return x.ndim >= 5 and axis is not None and 1 < len(axis) < x.ndim

    return any(_meets(case, number, op, several) for op in ("amin", "amax"))


@condition
def aligned_grid_of_one_place(case: Case, number: int) -> bool:
    """Whether the step makes a grid with aligned corners of an image that has one row or one column."""
    step = case.steps[number]
    return isinstance(step, Op) and step.op == "affine_grid" and bool(step.attrs["align_corners"]) and 1 in step.attrs["size"][2:]


INTERPOLATIONS = "interpolate_linear", "interpolate_bilinear", "interpolate_bicubic", "interpolate_trilinear"


@condition
def interpolated_to_one_place(case: Case, number: int) -> bool:
    """Whether the step interpolates to one place along some axis, without aligned corners."""
    step = case.steps[number]
    if not isinstance(step, Op) or step.op not in INTERPOLATIONS:
        return False
    return not step.attrs["align_corners"] and 1 in step.attrs["size"]


@condition
def vector_of_zeros_normalized(case: Case, number: int) -> bool:
    """Whether the step normalizes a vector of zeros, or of numbers with squares that underflow to them, among others.

    A cosine similarity normalizes both of its operands.
    """
    return _meets(case, number, "normalize", _without_length) or _meets(
        case, number, "cosine_similarity", lambda x, y, **at: np.any(_without_length(x, **at)) or np.any(_without_length(y, **at))
    )


def _without_length(x: Any, *, axis: Any, **_: Any) -> Any:
    return ~np.any(np.square(x), axis=axis)


@condition
def norm_of_an_extreme(case: Case, number: int) -> bool:
    """Whether the step takes the largest or the smallest size for a norm."""
    step = case.steps[number]
    return isinstance(step, Op) and step.attrs.get("p") in EXTREMA


@condition
def norm_of_zeros_of_another_order(case: Case, number: int) -> bool:
    """Whether the step is a norm that is 0, among others, and of an order that is neither 1 nor 2 nor infinite."""

    def vanishes(x: Any, *, p: Any, axis: Any, **_: Any) -> Any:
        return p not in (1.0, 2.0, *EXTREMA) and ~np.any(np.abs(x) ** p, axis=axis)

    return any(_meets(case, number, op, vanishes) for op in ("norm", "linalg_norm", "vector_norm"))


@condition
def images_of_width_one_normalized(case: Case, number: int) -> bool:
    """Whether the step is a batch normalization of images, or volumes, whose last axis has one element."""
    ops = ("batch_norm_train", "batch_norm_eval")
    return any(_meets(case, number, op, lambda x, *_, **__: x.ndim > 3 and x.shape[-1] == 1) for op in ops)


@condition
def downscaled_without_two_axes(case: Case, number: int) -> bool:
    """Whether the step is a dropout that scales down, of a tensor of fewer than two axes."""
    return _meets(case, number, "dropout_downscaled", lambda x, **_: x.ndim < 2)


@condition
def signal_of_odd_windows(case: Case, number: int) -> bool:
    """Whether the step is a signal of spectra of windows with an odd number of places."""
    return _meets(case, number, "istft", lambda _, window, **__: window.size % 2 == 1)


@condition
def dropout_of_nothing(case: Case, number: int) -> bool:
    """Whether the step is a dropout in evaluation of a tensor without elements."""
    return _meets(case, number, "dropout_eval", lambda x, **_: x.size == 0)


@condition
def passes_dropout_of_nothing(case: Case, number: int) -> bool:
    """Whether a call comes by a tensor without elements of which a dropout in evaluation was recorded before."""
    return comes_by(case, number, dropped_nothings(case, number))


@condition
def passes_dropout_of_nothing_without_hooks(case: Case, number: int) -> bool:
    """Whether a call comes by a tensor without elements of which a dropout was recorded before, and no result of one was hooked."""
    dropped = [step for k, step in enumerate(case.steps[:number]) if dropout_of_nothing(case, k)]
    names = {name for step in dropped for name in results(step)}
    hooked = any(isinstance(step, Hook) and step.tensor in names for step in case.steps[:number])
    return not hooked and passes_dropout_of_nothing(case, number)


@condition
def toggles_dropout_of_nothing(case: Case, number: int) -> bool:
    """Whether the step sets the flag of a tensor without elements of which a dropout in evaluation was recorded before."""
    step = case.steps[number]
    return isinstance(step, SetRequiresGrad) and step.tensor in dropped_nothings(case, number)


def dropped_nothings(case: Case, number: int) -> set[str]:
    """Return the tensors without elements of which a dropout in evaluation was recorded before a step."""
    before = enumerate(case.steps[:number])
    dropped = (step for k, step in before if isinstance(step, Op) and not step.no_grad and dropout_of_nothing(case, k))
    return {name for step in dropped for name in step.operands}


@condition
def scatters_from_nothing(case: Case, number: int) -> bool:
    """Whether the step is a masked_scatter of a source without elements."""
    return _meets(case, number, "masked_scatter", lambda _, source, **__: source.size == 0)


ABSOLUTE = ("abs", "l1_loss", "sgn", "triplet_margin_with_distance_loss")
OF_SIZES = (1.0, -1.0, *EXTREMA)
"""The exponents of norms that are made of sizes, and not of their powers."""


@condition
def takes_sizes(case: Case, number: int) -> bool:
    """Whether the step is made of sizes of elements, be it by a norm: the derivative of their signs is a constant 0."""
    step = case.steps[number]
    return isinstance(step, Op) and (step.op in ABSOLUTE or step.attrs.get("p", step.attrs.get("order")) in OF_SIZES)


@condition
def passes_sizes(case: Case, number: int) -> bool:
    """Whether a call comes by what is made of sizes of elements, or of their signs."""
    made = {name for i, step in enumerate(case.steps[:number]) if takes_sizes(case, i) for name in results(step)}
    return comes_by(case, number, made)
