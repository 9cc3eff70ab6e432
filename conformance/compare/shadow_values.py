"""Shadow values: what a run would have computed in a wider dtype, undisturbed and with one rounding per primitive.

How far rounding carried a number cannot be read off the number. The reference therefore runs once, in the tested dtypes, so that it
takes the branches, makes the dtypes and refuses what an engine under test should, and `ShadowValues` watches its primitives. Beside
every array it keeps the same value in a wider dtype, the centre, and some replicas: each primitive is applied to the shadows of its
operands, and the output of each replica is disturbed by one rounding of the dtype that the output has in the run. An array that no
primitive made (an input, a constant) is exact: its shadows are itself.
"""

from __future__ import annotations

import math
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from conformance.ops.dtypes import format_of, is_floating, wider
from reference_impl.tape.primitive import Observation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reference_impl.tape.primitive import Primitive

Array: TypeAlias = "np.ndarray[Any, Any]"
Replicas: TypeAlias = "list[Array]"
"""The shadows of one array: the centre, then the replicas."""


class ShadowValues:
    """Watches one run of the reference.

    ``saturating``: what has no finite value in the run has none in the shadows either, and what is beyond the largest number of the
    tested dtype is infinite. ``branched``: a shadow would have taken another branch than the run. It takes that of the run all the
    same: a radius that spanned two branches would accept all that lies between them. ``overflowed``: a value of the run is not finite
    where its centre is.
    """

    def __init__(self, replicas: int, seed: int, *, saturating: bool = False) -> None:
        self.replicas = replicas
        self.saturating = saturating
        self.branched = False
        self.overflowed = False
        self._rng = np.random.default_rng(seed)
        self._known: dict[int, tuple[Any, Replicas]] = {}
        self._answers: dict[str, Array] = {}

    def of(self, array: Any) -> Replicas:
        """Return the shadows of an array of the run."""
        known = self._known.get(id(array))
        if known is not None:
            return known[1]
        widened = np.asarray(array)
        return [widened.astype(wider(widened.dtype), copy=False)] * (1 + self.replicas)

    def observe(self, primitive: Primitive, arrays: list[Any], attrs: dict[str, Any], out: Any) -> Any:
        """Compute and keep the shadows of what a primitive made; an observer, see `reference_impl.tape.primitive.Observation`.

        What a fused op made was made by the last primitive of its formula, which was watched: its shadows are there.
        """
        if primitive.fused:
            return out
        attrs = _attributes(primitive, attrs, out)
        watching = Observation.observer, Observation.chooser
        Observation.observer, Observation.chooser = None, self._as_in_the_run  # a forward may be made of primitives
        try:
            operands = zip(*(self._operand(a) for a in arrays), strict=True)
            lines = [computed(primitive.forward, line, attrs) for line in operands]
            if primitive.multi_output:
                out = tuple(map(np.asarray, out))
                for slot, part in enumerate(out):
                    self._known[id(part)] = (part, [line[slot] for line in lines])
                return out
            out = np.asarray(out)
            if primitive.branch_sides:
                self._answers[primitive.name] = out
                self.branched |= any(not np.array_equal(line, out, equal_nan=True) for line in lines)
                lines = [out.astype(wider(out.dtype), copy=False)] * len(lines)
            elif is_floating(out.dtype):
                if primitive.ulps and self.replicas:
                    given = islice(zip(*(self._operand(a) for a in arrays), strict=True), 1, None)
                    scales = [_scale(primitive, line, of, attrs) for line, of in zip(lines[1:], given, strict=True)]
                    self._disturb(lines, _roundings(primitive, np.stack(scales), arrays, attrs, out.dtype))
                self._range(lines, out)
            self._known[id(out)] = (out, lines)
            return out
        finally:
            Observation.observer, Observation.chooser = watching

    def _operand(self, operand: Any) -> Replicas:
        return self.of(operand) if isinstance(operand, np.ndarray | np.generic) else [operand] * (1 + self.replicas)

    def _as_in_the_run(self, primitive: Primitive, _: list[Any], __: dict[str, Any], out: Any) -> Any:
        """Have a primitive that decides a branch inside a forward answer what it answered when the run computed that forward."""
        given = self._answers.get(primitive.name)
        if given is None or given.shape != np.shape(out):
            return out
        self.branched |= not np.array_equal(given, out, equal_nan=True)
        return given.astype(out.dtype, copy=False)

    def _disturb(self, lines: Replicas, size: Array) -> None:
        """Move each replica by up to a rounding of its own: of a number that is rounding and no more the centre says little."""
        shape = (self.replicas, *lines[0].shape)
        noise: Any = self._rng.uniform(-1.0, 1.0, shape)
        if lines[0].dtype.kind == "c":
            noise = noise + 1j * self._rng.uniform(-1.0, 1.0, shape)
        noise = noise * np.where(np.isfinite(size), size, 0.0)
        for i in range(self.replicas):
            line = lines[1 + i]  # what is infinite has no rounding: inf - inf would be NaN, and NaN would be right
            lines[1 + i] = np.where(np.isfinite(line), line + noise[i], line).astype(lines[0].dtype, copy=False)

    def _range(self, lines: Replicas, out: Array) -> None:
        if not self.saturating:
            if not self.overflowed:
                lost = ~np.isfinite(out)
                self.overflowed = bool(lost.any() and np.isfinite(lines[0][lost]).any())
            return
        largest = format_of(out.dtype).largest
        for i, line in enumerate(lines):
            beyond = np.where(np.abs(line) > largest, line * np.inf, line) if line.dtype.kind == "f" else line
            lines[i] = np.where(np.isfinite(out), beyond, out).astype(line.dtype, copy=False)


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
    return format_of(dtype).rounding(size) * (primitive.ulps * math.sqrt(max(1.0, terms)))  # type: ignore[no-any-return]


def _attributes(primitive: Primitive, attrs: dict[str, Any], out: Any) -> dict[str, Any]:
    """Return the attributes that the shadows are computed with.

    Where a primitive rounds nothing it puts in, or compares with, a number as the run's dtype has it: the limits of a clamp, say.
    """
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
