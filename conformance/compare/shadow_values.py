"""Shadow values: what a run would have computed in a wider dtype, undisturbed and with one rounding per primitive.

How far rounding carried a number cannot be read off the number. The reference therefore runs once, in the tested dtypes, so that it
takes the branches, makes the dtypes and refuses what an engine under test should, and `ShadowValues` goes through the history of that
run. Beside an array it keeps the same value in a wider dtype, the centre, and some replicas: each primitive is applied to the shadows
of its operands, and the output of each replica is disturbed by one rounding of the dtype that the output has in the run. An array that
no primitive made (an input, a constant) is exact: its shadows are itself.

Arrays are small, and calls are what this costs. So the shadows of an array are one array, and only what leads to a number that somebody
asks for is computed: for the gradient of ``exp(x)`` in a script that goes on with the sine of it, the sine is not.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from conformance.compare.branches import choosing, observing
from conformance.compare.history import are_finite
from conformance.ops.dtypes import format_of, is_floating, wider

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from conformance.compare.history import History, Place
    from reference_impl.tape.primitive import Primitive

Array: TypeAlias = "np.ndarray[Any, Any]"
Lines: TypeAlias = "np.ndarray[Any, Any]"
"""The shadows of one array along a first axis: the centre, then the replicas; a single line stands for all where they are the same."""

SUMS = ("add", "add_scalar", "clone", "conj", "div", "div_by_quotient", "mul", "mul_scalar", "neg", "reciprocal", "rsub_scalar", "sub")
FUNCTIONS = ("cos", "exp", "log", "pow_scalar", "rsqrt", "sigmoid", "sin", "sqrt", "square", "tanh")
SPECIAL = (
    *("bessel_slope", "damped_slope", "digamma", "erf", "gamma_density", "gammainc", "gammaincc"),
    *("i0", "i0e", "i1", "i1e", "lgamma", "polygamma"),
)
MATRICES = ("bmm", "matmul", "mm")
AT_ONCE = {**dict.fromkeys(SUMS + FUNCTIONS + SPECIAL, 0), **dict.fromkeys(MATRICES, 2)}
"""Primitives that can be applied to all lines at once, with the axes that their operands must have: they make elements of elements,
or matrices of matrices, and broadcast over what is before. Runs are mostly made of those; what is not here is only slower."""


class ShadowValues:
    """The shadows of one run of the reference; each is computed when somebody asks for it.

    ``saturating``: what has no finite value in the run has none in the shadows either, and what is beyond the largest number of the
    tested dtype is infinite.
    """

    def __init__(self, history: History, replicas: int, *, seed: int, saturating: bool = False) -> None:
        self.history = history
        self.replicas = replicas
        self.seed = seed
        self.saturating = saturating
        self._branched = False
        self._overflowed = False
        self._at = 0
        self._made: dict[Place, Lines] = {}
        noise = np.random.default_rng(seed).uniform(-1.0, 1.0, replicas * history.rounded_before[-1])
        self._noise: dict[Any, Array] = {noise.dtype: noise}

    @property
    def branched(self) -> bool:
        """Whether a shadow would have taken another branch than the run.

        It takes that of the run all the same: a radius that spanned two branches would accept all that lies between them.
        """
        if not self.history.decides:
            return False
        self._compute(range(len(self.history.applied)))
        return self._branched

    @property
    def overflowed(self) -> bool:
        """Whether a value of the run is not finite where its centre is."""
        if self.history.finite:
            return False
        self._compute(range(len(self.history.applied)))
        return self._overflowed

    def of(self, array: Any) -> Lines:
        """Return the shadows of an array of the run."""
        source = self.history.source(array)
        if source is not None:
            self._compute(self._leading_to(source[0]))
        lines = self._lines(array, source)
        return np.broadcast_to(lines, (1 + self.replicas, *lines.shape[1:]))

    def _leading_to(self, number: int) -> list[int]:
        """Return the applications on which one depends, and that one, in order; without those that have their shadows."""
        found: set[int] = set()
        left = [number]
        while left:
            one = left.pop()
            if one not in found and (one, 0) not in self._made:
                found.add(one)
                left += [source[0] for source in self.history.sources[one] if source is not None]
        return sorted(found)

    def _compute(self, numbers: Iterable[int]) -> None:
        """Compute and keep the shadows of what these applications made, unless that was done."""
        left = [number for number in numbers if (number, 0) not in self._made]
        if not left:
            return
        with observing(None), choosing(self._as_in_the_run), np.errstate(all="ignore"):  # a forward may be made of primitives
            for number in left:
                self._at = number
                self._apply(*self.history.applied[number])

    def _apply(self, primitive: Primitive, arrays: list[Any], attrs: dict[str, Any], out: Any) -> None:
        attrs = _attributes(primitive, attrs, out)
        operands = list(map(self._lines, arrays, self.history.sources[self._at]))
        if primitive.multi_output:
            for slot, made in enumerate(zip(*_each(primitive.forward, operands, attrs), strict=True)):
                self._made[self._at, slot] = np.array(made)
            return
        given = _at_once(primitive, operands)
        lines: Any = computed(primitive.forward, given, attrs) if given else np.array(_each(primitive.forward, operands, attrs))
        if primitive.branch_sides:
            self._branched |= not _are_all(lines, out)
            lines = out.astype(wider(out.dtype), copy=False)[np.newaxis]
        elif is_floating(out.dtype):
            if self.replicas and self.history.applied[self._at].rounds:
                size = self._size(primitive, lines, operands, given, attrs)
                lines = self._disturbed(lines, _roundings(primitive, size, arrays, attrs, out.dtype))
            if self.saturating or not self.history.finite:
                lines = self._ranged(lines, out)
        self._made[self._at, 0] = lines

    def _lines(self, operand: Any, source: Place | None) -> Any:
        """Return the shadows of an operand; one line stands for all where they are the same. What is no array has none."""
        if source is not None:
            return self._made[source]
        return np.asarray(operand, wider(operand.dtype))[np.newaxis] if isinstance(operand, np.ndarray | np.generic) else operand

    def _size(self, primitive: Primitive, lines: Lines, operands: list[Any], given: list[Any] | None, attrs: dict[str, Any]) -> Array:
        """Return what the roundings of each replica are relative to; ``given``: the operands if all lines are computed at once."""
        if primitive.error_scale is None:
            return np.abs(lines[-self.replicas :])  # without the centre, unless that stands for all
        if given:
            return np.asarray(primitive.error_scale(lines, *given, **attrs))[-self.replicas :]
        lines = lines[-self.replicas :]
        of = [o[-self.replicas :] if isinstance(o, np.ndarray) else o for o in operands]
        return np.array([_scale(primitive, line, [_line(o, i) for o in of], attrs) for i, line in enumerate(lines)])

    def _as_in_the_run(self, primitive: Primitive, _: list[Any], __: dict[str, Any], out: Any) -> Any:
        """Have a primitive that decides a branch inside a forward answer what it answered when the run computed that forward."""
        given = self.history.answer(primitive, before=self._at)
        if given is None or given.shape != np.shape(out):
            return out
        self._branched |= not np.array_equal(given, out, equal_nan=True)
        return given.astype(out.dtype, copy=False)

    def _disturbed(self, lines: Lines, size: Array) -> Lines:
        """Move each replica by up to a rounding of its own: of a number that is rounding and no more the centre says little."""
        made = np.empty((1 + self.replicas, *lines.shape[1:]), lines.dtype)
        made[0], moved, replicas = lines[0], made[1:], lines[-self.replicas :]
        noise = self._drawn(moved.shape, size.dtype, 0)
        if lines.dtype.kind == "c":
            noise = noise + 1j * self._drawn(moved.shape, size.dtype, 1)
        np.add(replicas, noise * size, out=moved, casting="same_kind")
        if not are_finite(moved):  # what is infinite has no rounding: inf - inf would be NaN, and NaN would be right
            finite = replicas + noise * np.where(np.isfinite(size), size, 0.0)
            made[1:] = np.where(np.isfinite(replicas), finite, replicas)
        return made

    def _drawn(self, shape: tuple[int, ...], dtype: Any, part: int) -> Array:
        """Return the numbers between -1 and 1 that were drawn for an application, whatever else is computed."""
        if dtype not in self._noise:
            self._noise[dtype] = self._noise[np.dtype(np.float64)].astype(dtype)
        count = math.prod(shape)
        start = self.replicas * self.history.rounded_before[self._at] + part * count
        return self._noise[dtype][start : start + count].reshape(shape)

    def _ranged(self, lines: Lines, out: Array) -> Lines:
        if not self.saturating:
            self._overflowed |= bool(np.isfinite(lines[0][~np.isfinite(out)]).any())
            return lines
        if lines.dtype.kind == "f":
            lines = np.where(np.abs(lines) > format_of(out.dtype).largest, lines * np.inf, lines)
        return np.where(np.isfinite(out), lines, out).astype(lines.dtype, copy=False)


def _each(forward: Callable[..., Any], operands: list[Any], attrs: dict[str, Any]) -> list[Any]:
    """Apply a function to one line of its operands after the other."""
    count = max((len(o) for o in operands if isinstance(o, np.ndarray)), default=1)
    return [computed(forward, [_line(o, i) for o in operands], attrs) for i in range(count)]


def _line(operand: Any, number: int) -> Any:
    return operand[number if len(operand) > 1 else 0] if isinstance(operand, np.ndarray) else operand


def _at_once(primitive: Primitive, operands: list[Any]) -> list[Any] | None:
    """Return the operands, each with axes enough to broadcast, if a primitive can be applied to all lines at once."""
    least = AT_ONCE.get(primitive.name)
    if least is None:
        return None
    lines = [o for o in operands if type(o) is np.ndarray]
    axes = {o.ndim for o in lines}
    if min(axes, default=0) <= least:
        return None
    if len({o.dtype for o in lines}) > 1:  # of two dtypes that of a number without axes counts less
        return None
    if len(axes) == 1:
        return operands
    most = max(axes)
    return [o.reshape(len(o), *(1,) * (most - o.ndim), *o.shape[1:]) if isinstance(o, np.ndarray) else o for o in operands]


def _are_all(lines: Lines, out: Array) -> bool:
    """Whether every line is the answer of the run."""
    return bool((lines == out).all()) or all(np.array_equal(line, out, equal_nan=True) for line in lines)


def roundings(primitive: Primitive, out: Array, operands: list[Any], arrays: list[Any], attrs: dict[str, Any], dtype: Any) -> Array:
    """Return how far a correct implementation may be off, elementwise: some roundings of ``dtype`` of what they are relative to.

    ``out`` and ``operands`` say what that is, ``arrays`` are the operands of the run. Every number that is accumulated into an element
    brings one rounding, each at most that of the sum of the absolute terms. They are independent, so their sum grows with the root of
    their number, whatever the order of summation.
    """
    return _roundings(primitive, _scale(primitive, out, operands, attrs), arrays, attrs, dtype)


def _scale(primitive: Primitive, out: Array, operands: Sequence[Any], attrs: dict[str, Any]) -> Array:
    return np.abs(out) if primitive.error_scale is None else primitive.error_scale(out, *operands, **attrs)


def _roundings(primitive: Primitive, size: Array, arrays: list[Any], attrs: dict[str, Any], dtype: Any) -> Array:
    terms = 1.0 if primitive.summands is None else float(primitive.summands(*arrays, **attrs))
    return format_of(dtype).rounding(size, (primitive.ulps or 1.0) * math.sqrt(max(1.0, terms)))  # type: ignore[no-any-return]


def _attributes(primitive: Primitive, attrs: dict[str, Any], out: Any) -> dict[str, Any]:
    """Return the attributes that the shadows are computed with.

    Where a primitive rounds nothing it puts in, or compares with, a number as the run's dtype has it: the limits of a clamp, say.
    """
    if not attrs:
        return attrs
    if "dtype" in attrs:
        return {**attrs, "dtype": str(wider(attrs["dtype"]))}
    dtype = getattr(out, "dtype", None)
    if (primitive.ulps and not primitive.branch_sides) or not is_floating(dtype):
        return attrs
    return {name: float(np.asarray(a, dtype).real) if type(a) is float else a for name, a in attrs.items()}


def computed(forward: Callable[..., Any], operands: Any, attrs: dict[str, Any]) -> Any:
    """Apply a forward in the wide dtype; one that NumPy does not have in longdouble (`numpy.linalg`) is applied in float64."""
    try:
        made = forward(*operands, **attrs)
    except TypeError:
        made = forward(*(narrowed(o) for o in operands), **attrs)
    return tuple(map(np.asarray, made)) if isinstance(made, tuple) else np.asarray(made)


def narrowed(operand: Any) -> Any:
    """Return an array of longdouble as one of float64 (complex accordingly), and anything else as it is."""
    if not isinstance(operand, np.ndarray):
        return operand
    return operand.astype(np.complex128 if operand.dtype.kind == "c" else np.float64) if operand.dtype.kind in "fc" else operand
