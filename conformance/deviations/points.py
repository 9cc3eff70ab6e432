"""Special points as data: an op that meets a number at which a released framework is wrong.

An entry names them as ``meets = [{ op = "hardshrink", operand = "x", value = "at bound" }]``: some element of the operand, in one call
of the op up to the step that differs, is such a number. One of several points is enough. What an operand is the reference says, never
a backend. It is at a number within a few roundings: the operand of an engine may be that number where the reference
has its neighbour.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from conformance.case.outcome import Computed
from conformance.case.queries import until
from conformance.case.rewrite import CONSTANT, with_steps
from conformance.case.steps import InPlace, Op, results, uses
from conformance.compare.promise import promised
from conformance.compare.rounding import are_near
from conformance.ops.dtypes import format_of
from conformance.ops.spec import signature
from reference_impl import OPS, PADDLE, PADDLE_STATIC, TORCH
from reference_impl.primitives.shape import sum_to

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from conformance.case.case import Case
    from conformance.case.place import StepNumber
    from reference_impl import Dialect

FAR = 64.0
"""From here on ``e^-x`` is so small, or ``e^x`` so large, that what is computed from it may leave the range of float32."""


def _tiny(x: Any) -> float:
    return format_of(x.dtype).tiny


def _largest(x: Any) -> float:
    return format_of(x.dtype).largest


def _scaled_by_paddle(x: Any) -> Any:
    """Whether each element is in a matrix that Paddle halves before it makes the exponential: of its norm, or of twice its bound."""
    bound = 2 * (3.92572478313866 if x.dtype == np.float32 else 5.371920351148152)
    return np.broadcast_to(np.abs(x).sum(-2).max(-1)[..., None, None] >= bound, x.shape)


def _repeated_in_a_small_matrix(x: Any) -> Any:
    """Whether each element is in a matrix of which PyTorch takes singular values for the determinant, and two of these are equal."""
    known = format_of(x.dtype)
    values = np.linalg.svd(x, compute_uv=False)
    repeated = (values[..., :-1] - values[..., 1:] <= known.rounding(values[..., :1], 16)).any(-1)
    return np.broadcast_to((repeated & (np.abs(np.linalg.det(x)) < known.rounding(1.0, 100)))[..., None, None], x.shape)


def _is_permuted_diagonal(x: Any) -> Any:
    """Whether each element is in a matrix that has one number in a row and a column at most: its singular values are their sizes."""
    numbers = np.not_equal(x, 0)
    single = np.maximum(numbers.sum(-1).max(-1, initial=0), numbers.sum(-2).max(-1, initial=0)) <= 1
    return np.broadcast_to(single[..., None, None], x.shape)


def is_quotient_beyond_range(x: Any, y: Any) -> Any:
    """Return where a quotient, or the square of a divisor or of its reciprocal, leaves the range."""
    far = np.abs(x) > _largest(x) / 4
    return far | ~np.isfinite(x / y) | ~np.isfinite(1 / np.square(y)) | ~np.isfinite(np.square(y))


BLOCK = 8
"""So many numbers of single precision fill a vector register."""


def fill_a_block(x: Any, axis: int) -> bool:
    """Whether the elements along an axis lie side by side in memory, and are as many as a `BLOCK` or more."""
    return bool(x.ndim and x.shape[axis] >= BLOCK and math.prod(x.shape[axis % x.ndim + 1 :]) == 1)


def _is_lost_in_a_row(x: Any, axis: int) -> Any:
    """Return which elements are not finite, if those along the axis fill a block of single precision."""
    return ~np.isfinite(x) & (fill_a_block(x, axis) and x.dtype == np.float32)


VALUES: Mapping[str, Callable[[Any], Any]] = {
    "any": lambda x: np.full(x.shape, fill_value=True),
    "zero": lambda x: x == 0,
    "nonpositive": lambda x: x <= 0,
    "minus infinity, among two or more": lambda x: np.isneginf(np.real(x)) & (x.size >= 2),
    "minus zero or minus infinity": lambda x: ((x == 0) & np.signbit(np.real(x))) | (np.isinf(x) & (np.real(x) < 0)),
    "nan": np.isnan,
    "infinite": np.isinf,
    "plus infinity": lambda x: np.isinf(x) & (np.real(x) > 0),
    "plus infinity, among eight or more of single precision": lambda x: (x == np.inf) & (x.dtype == np.float32) & (x.size >= 8),
    "not finite": lambda x: ~np.isfinite(x),
    "subnormal": lambda x: np.abs(x) < _tiny(x),
    "nearly subnormal": lambda x: np.abs(x) < 4 * _tiny(x),
    "beyond one": lambda x: np.abs(x) > 1,
    "below -4, of single precision": lambda x: (x < -4) & (x.dtype == np.float32),
    "of infinite exponential": lambda x: np.abs(x) > np.log(_largest(x)),
    "far": lambda x: np.abs(x) > FAR,
    "below, with an infinite square of e^-x": lambda x: -2.0 * np.real(x) > np.log(_largest(x)),
    "nearly largest": lambda x: np.abs(x) > _largest(x) / 4,
    "of infinite square": lambda x: np.abs(x) > np.sqrt(_largest(x)),
    "in a matrix that is halved": _scaled_by_paddle,
    "in a small permuted diagonal with equal singular values": lambda x: _repeated_in_a_small_matrix(x) & _is_permuted_diagonal(x),
    "in another small matrix with equal singular values": lambda x: _repeated_in_a_small_matrix(x) & ~_is_permuted_diagonal(x),
    "of infinite reciprocal cube": lambda x: np.abs(x) < _largest(x) ** (-1 / 3),
}
"""The words for values. Beside them stands ``at NUMBER``, or ``at ATTRIBUTE`` of the op, each with a minus or without."""

BY_ATTRIBUTE: Mapping[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "of overflowing product": ("axis", lambda x, axis: np.prod(np.maximum(np.abs(x), 1.0), axis=axis, keepdims=True) > _largest(x)),
    "of no length": ("axis", lambda x, axis: ~np.any(np.square(x), axis=axis, keepdims=True)),
    "far in the unit alpha": ("alpha", lambda x, alpha: np.abs(x) > FAR * min(1.0, abs(alpha))),
    "for an axis of one place": ("size", lambda _, size: np.append(np.equal(size[:1:-1], 1), False)),
    "among zeros alone": ("axis", lambda x, axis: ~np.any(x, axis=axis, keepdims=True)),
    "with its axes in place": ("axes", lambda x, axes: np.full(x.shape, [axis % x.ndim for axis in axes] == [*range(x.ndim)])),
    "not finite, in a row of eight or more of single precision": ("axis", _is_lost_in_a_row),
    "in a slice of zeros": ("axis", lambda x, axis: ~np.any(x, axis=tuple({*range(x.ndim)} - {axis % x.ndim}), keepdims=True)),
}
"""The words for what values are by an attribute of the op: together with the others along its axis, or in its unit."""

PAIRS: Mapping[str, Callable[[Any, Any], Any]] = {
    "of infinite quotient by": lambda x, other: np.isinf(x / other) & np.isfinite(x) & (other != 0),
    "of a quotient beyond the range by": is_quotient_beyond_range,
    "beyond exponential of": lambda x, other: np.isinf(np.exp(np.abs(x - other))),
    "broadcast to nothing by": lambda x, other: np.full(x.shape, 0 in (x.size, other.size)),
}
"""The words for what a value is beside another operand, whose name stands behind them."""

AT = re.compile(r"at (-?)(\w[\w.]*)")


class Point(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An op, one of its operands, and the value; ``times``: the attribute that the operand is multiplied with before."""

    op: str
    operand: str
    value: str
    times: str = ""

    def met(self, case: Case, number: StepNumber) -> bool:
        """Whether a call of the op up to the step, or of its form in place, meets the point, in any dialect."""
        calls = [(i, step) for i, step in enumerate(until(case, number)) if isinstance(step, Op | InPlace) and step.op == self.op]
        found = (
            (given, step.attrs)
            for i, step in calls
            for known in promised_arrays(case, i)
            if self._needed(given := [*map(known.get, step.operands if isinstance(step, Op) else (step.tensor, *step.operands))])
        )
        return any(bool(np.any(self.here(given, attrs))) for given, attrs in found)

    def here(self, given: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
        """Return which elements of the operand are the value, where a call was given these operands and attributes."""
        operands = signature(self.op)[0]
        x = given[operands.index(self.operand)]
        with np.errstate(all="ignore"):
            if self._beside is None:
                return np.broadcast_to(self._is(self._scaled(x, attrs), attrs), x.shape)
            words, other = self._beside
            pairs = PAIRS[words](x, given[operands.index(other)])
        return sum_to(pairs.astype(int), shape=x.shape) > 0

    def _needed(self, given: Sequence[Any]) -> bool:
        """Whether all that the point is about is among the operands of a call, of which ``None`` are not known."""
        names = [self.operand] if self._beside is None else [self.operand, self._beside[1]]
        return all(given[signature(self.op)[0].index(name)] is not None for name in names)

    @property
    def _beside(self) -> tuple[str, str] | None:
        """Return what the value is beside another operand, and that one's name."""
        words, _, other = self.value.rpartition(" ")
        return (words, other) if words in PAIRS else None

    def _scaled(self, x: Any, attrs: Mapping[str, Any]) -> Any:
        return x * np.asarray(attrs[self.times], x.dtype) if self.times else x

    def _is(self, x: Any, attrs: Mapping[str, Any]) -> Any:
        if self.value in VALUES:
            return VALUES[self.value](x)
        if self.value in BY_ATTRIBUTE:
            attribute, test = BY_ATTRIBUTE[self.value]
            return test(x, attrs[attribute])
        sign, place = self._place
        return are_near(sign * np.asarray(attrs[place] if place in attrs else float(place), x.dtype), x)

    @property
    def _place(self) -> tuple[int, str]:
        """Return what stands behind ``at``: a sign, and a number or an attribute."""
        read = AT.fullmatch(self.value)
        return (-1 if read and read[1] else 1, read[2] if read else "")

    def problems(self) -> Iterator[str]:
        """Say what is wrong with the point."""
        if self.op not in OPS:
            yield f"the op {self.op!r} of a special point is unknown"
            return
        operands, attrs, _ = signature(self.op)
        if self.operand not in operands:
            yield f"operand {self.operand!r} of {self.op} is unknown; allowed are {', '.join(operands)}"
        if self.times and self.times not in attrs:
            yield f"attribute {self.times!r} of {self.op} is unknown; allowed are {', '.join(attrs) or 'none'}"
        if self._beside is not None:
            if self._beside[1] not in operands:
                yield f"operand {self._beside[1]!r} of {self.op} is unknown; allowed are {', '.join(operands)}"
            return
        place = self._place[1]
        if self.value in BY_ATTRIBUTE and (attribute := BY_ATTRIBUTE[self.value][0]) not in attrs:
            yield f"value {self.value!r} is about the attribute {attribute!r}, which {self.op} does not have"
        if self.value not in (*VALUES, *BY_ATTRIBUTE) and place not in attrs and not re.fullmatch(r"\d+(\.\d+)?", place):
            places = ", ".join(f"'at {name}'" for name in ("NUMBER", *attrs))
            pairs = ", ".join(f"'{words} OPERAND'" for words in PAIRS)
            yield f"value {self.value!r} is unknown; allowed are {', '.join((*VALUES, *BY_ATTRIBUTE))}, {places}, {pairs}"


def promised_arrays(case: Case, number: int) -> Iterator[dict[str, Any]]:
    """Yield what the operands of an op hold by each dialect: a derivative that one has for an operand another may not offer."""
    return (arrays(case, number, dialect) for dialect in (TORCH, PADDLE, PADDLE_STATIC))


def arrays(case: Case, number: int, dialect: Dialect) -> dict[str, Any]:
    """Return what the operands of an op hold when it runs, by their names, as a dialect promises it.

    Once something was written in place, they are read from copies: what they were made with may have been changed through a view.
    """
    before, op = case.steps[:number], case.steps[number]
    names = [name for _, name in uses(op)]
    if any(isinstance(step, InPlace) for step in before):
        copies = [Op("clone", (name,), (f"{CONSTANT}{name}",), no_grad=True) for name in names]
        copied = _values(with_steps(case, (*before, *copies)), dialect)
        return {name: copied[f"{CONSTANT}{name}"] for name in names if f"{CONSTANT}{name}" in copied}
    known = _values(case, dialect)
    return {name: known[name] for name in names if name in known}


def _values(case: Case, dialect: Dialect) -> dict[str, Any]:
    known: dict[str, Any] = {entry.name: entry.array() for entry in case.inputs}
    for step, seen in zip(case.steps, promised(case, dialect).observations, strict=True):
        if isinstance(seen, Computed):
            known.update({n: v.array for n, v in zip(results(step), seen.values, strict=False) if v is not None})
    return known
