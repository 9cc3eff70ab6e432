"""The history of a run: what the reference applied to what, and what came out, in the order in which it did.

How far rounding can carry a number is worked out beside the run that says what it should be. Whether anybody will ask is not known
while that runs, and mostly nobody does; to run again for those who do would cost them a second run. So the run is noted down, which
costs little, and what is computed beside it is computed from the notes, as far as it leads to the number in question. It is the same
computation: a primitive takes arrays and attributes, and knows nothing else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from conformance.ops.dtypes import format_of, is_floating

if TYPE_CHECKING:
    from collections.abc import Collection

    from conformance.case.outcome import Outcome
    from reference_impl.tape.primitive import Primitive

Array: TypeAlias = "np.ndarray[Any, Any]"
FEW = 1000
"""So many elements are squared and added faster than they are looked at one by one."""
Place: TypeAlias = tuple[int, int]
"""Which output of which application, by number."""


class Applied(NamedTuple):
    """One application of a primitive: its operands, its attributes and its output; arrays are known by their identity."""

    primitive: Primitive
    arrays: list[Any]
    attrs: dict[str, Any]
    out: Any

    @property
    def outputs(self) -> tuple[Any, ...]:
        """The outputs, also if there is one."""
        return self.out if self.primitive.multi_output else (self.out,)

    @property
    def rounds(self) -> bool:
        """Whether the elements of the output are rounded."""
        primitive = self.primitive
        if primitive.branch_sides or primitive.multi_output or not is_floating(self.out.dtype):
            return False
        return bool(primitive.ulps) or self._narrows

    @property
    def _narrows(self) -> bool:
        """Whether what is only moved gets a dtype of fewer digits, as a number beside a tensor does in ``where``."""
        most = format_of(self.out.dtype).bits
        dtypes = (getattr(array, "dtype", None) for array in self.arrays)
        return any(is_floating(dtype) and format_of(dtype).bits > most for dtype in dtypes)


class Notes:
    """Notes down what a run applies."""

    def __init__(self) -> None:
        self.applied: list[Applied] = []

    def observe(self, primitive: Primitive, arrays: list[Any], attrs: dict[str, Any], out: Any) -> Any:
        """Note an application, and have its output be an array, so that it is known where it is used; an observer.

        What a fused op made was made by the last primitive of its formula, which is noted.
        """
        if primitive.fused:
            return out
        if primitive.multi_output:
            out = tuple(map(np.asarray, out))
        elif type(out) is not np.ndarray:
            out = np.asarray(out)
        self.applied.append(Applied(primitive, arrays, attrs, out))
        return out


@dataclass(frozen=True)
class History:
    """What was observed of a run, and all that was applied in it; what of it led to what."""

    outcome: Outcome
    applied: list[Applied]

    @cached_property
    def _traced(self) -> tuple[list[list[Place | None]], dict[int, Place]]:
        sources: list[list[Place | None]] = []
        made_by: dict[int, Place] = {}
        for number, (primitive, arrays, _, out) in enumerate(self.applied):
            sources.append([made_by.get(id(array)) for array in arrays])
            for slot, part in enumerate(out if primitive.multi_output else (out,)):
                made_by[id(part)] = number, slot  # anew, where a primitive returns its operand
        return sources, made_by

    @cached_property
    def sources(self) -> list[list[Place | None]]:
        """For each application, where each operand comes from; ``None``: no primitive made it."""
        return self._traced[0]

    def source(self, array: Any) -> Place | None:
        """Return where an array of the run comes from."""
        return self._traced[1].get(id(array))

    @cached_property
    def rounded_before(self) -> list[int]:
        """For each application, how many real numbers were rounded before it; one more entry says how many were in all."""
        found = [0]
        for one in self.applied:
            rounded = one.out.size * (2 if one.out.dtype.kind == "c" else 1) if one.rounds else 0
            found.append(found[-1] + rounded)
        return found

    def roundings_in(self, array: Any, bounded: Collection[str]) -> Any:
        """Return how many roundings each element of an array hangs on, at most.

        That is infinite if one of the roundings is of a primitive that is not ``bounded``. Primitives that are bounded make elements of
        elements; of whatever else is applied, any element may be made of all.
        """
        source = self.source(array)
        left, found = [] if source is None else [source[0]], set[int]()
        while left:
            if (number := left.pop()) not in found:
                found.add(number)
                left += [place[0] for place in self.sources[number] if place is not None]
        counts: dict[int, Any] = {}
        for number in sorted(found):
            one = self.applied[number]
            before = [counts[place[0]] for place in self.sources[number] if place is not None]
            if one.primitive.multi_output or one.primitive.branch_sides or (one.rounds and one.primitive.name not in bounded):
                return math.inf
            if one.primitive.name in bounded:
                parts = 2.0 if one.out.dtype.kind == "c" else 1.0
                counts[number] = sum(before, np.full(one.out.shape, parts if one.rounds else 0.0))
            else:
                counts[number] = sum(map(np.sum, before), np.zeros(()))
        return 0.0 if source is None else counts[source[0]]

    @cached_property
    def finite(self) -> bool:
        """Whether all that was made is finite."""
        parts = [part.ravel() for one in self.applied for part in one.outputs if is_floating(part.dtype)]
        return not parts or bool(np.isfinite(np.concatenate(parts)).all())

    @cached_property
    def taken_finite(self) -> bool:
        """Whether all that was applied to anything is finite, too."""
        pairs = (
            (array, source)
            for one, sources in zip(self.applied, self.sources, strict=True)
            for array, source in zip(one.arrays, sources, strict=True)
        )
        given = (array for array, source in pairs if source is None and is_floating(getattr(array, "dtype", None)))
        return self.finite and all(map(are_finite, map(np.asarray, given)))

    @cached_property
    def _answers(self) -> dict[str, list[tuple[int, Array]]]:
        found: dict[str, list[tuple[int, Array]]] = {}
        for number, one in enumerate(self.applied):
            if one.primitive.branch_sides is not None:
                found.setdefault(one.primitive.name, []).append((number, one.out))
        return found

    @property
    def decides(self) -> bool:
        """Whether anything was applied that decides a branch."""
        return bool(self._answers)

    def answer(self, primitive: Primitive, before: int) -> Array | None:
        """Return what a primitive that decides a branch answered last, before an application; ``None`` if it was not asked."""
        return next((out for number, out in reversed(self._answers.get(primitive.name, [])) if number < before), None)


def are_finite(array: Array) -> bool:
    """Whether all elements are surely finite: the sum of their squares is, which takes one call where they are few and none is huge."""
    return (array.size <= FEW and math.isfinite(np.vdot(array, array).real)) or bool(np.isfinite(array).all())
