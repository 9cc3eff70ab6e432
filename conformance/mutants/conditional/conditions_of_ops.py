"""When an op has its fault: questions about what it is given, in the words in which the table of faults asks them.

All of them are asked only where a derivative of the op can be asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from conformance.case.steps import Op
from conformance.ops.dtypes import is_complex

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from conformance.mutants.conditional.moment import Moment, Seen

TURNS = ("transpose", "permute", "t")
MANY = 5
"""Parts, repetitions, operands."""


def _first(at: Moment) -> Seen:
    return at.operands[0]


def _over(count: int) -> Callable[[Moment], bool]:
    return lambda at: _first(at).size > count


def _axes(count: int) -> Callable[[Moment], bool]:
    return lambda at: len(_first(at).shape) == count


def _made_by(*ops: str) -> Callable[[Moment], bool]:
    return lambda at: any(x.made[:1] and x.made[0] in ops for x in at.operands)


def _of_dtype(*names: str) -> Callable[[Moment], bool]:
    return lambda at: all(x.dtype in names for x in at.operands)


def _has(name: str, test: Callable[[Any], bool]) -> Callable[[Moment], bool]:
    return lambda at: name in at.attrs and test(at.attrs[name])


def _stretched(at: Moment, position: int) -> bool:
    """Whether an operand is smaller than all of them together."""
    shapes = [x.shape for x in at.operands]
    return len(shapes) > position and np.broadcast_shapes(*shapes) != shapes[position]


def _numbers(value: Any) -> list[float]:
    """Return the numbers in an attribute, however they are nested; a slice counts with its ends and its step."""
    if isinstance(value, list | tuple):
        return [number for inner in value for number in _numbers(inner)]
    return [value] if isinstance(value, int | float) and not isinstance(value, bool) else []


def _named_axes(at: Moment) -> list[float]:
    return [number for name in ("axis", "axis0", "axis1") for number in _numbers(at.attrs.get(name))]


def _indices(at: Moment) -> list[float]:
    return [number for name in ("index", "key") for number in _numbers(at.attrs.get(name))]


def _inside(at: Moment) -> list[list[int]]:
    """Return the positions between the first operand and the last, each by itself."""
    return [[position] for position in range(1, len(at.operands) - 1)]


def _spare(at: Moment) -> int:
    """Return how many elements of the first operand lie beyond the last full block of eight; 0 where there is no full one."""
    size = _first(at).size
    return size % 8 if size > 8 else 0


CONDITIONS: Mapping[str, Callable[[Moment], bool]] = {
    # Sizes.
    "more than 8 elements": _over(8),
    "more than 16 elements": _over(16),
    "more than 32 elements": _over(32),
    "more than 256 elements": _over(256),
    "a last block that is not full": lambda at: _spare(at) > 0,
    "rows with one element behind their blocks": lambda at: _first(at).shape[-1:] > (8,) and _first(at).shape[-1] % 8 == 1,
    "one element": lambda at: _first(at).size == 1 and _first(at).shape != (),
    "a number": _axes(0),
    "no elements": lambda at: any(x.size == 0 for x in at.operands),
    "an axis of length 1": lambda at: 1 in _first(at).shape and _first(at).size > 1,
    "a square operand": lambda at: len(_first(at).shape) > 1 and 1 < _first(at).shape[-1] == _first(at).shape[-2],
    "three axes": _axes(3),
    "four axes": _axes(4),
    "five axes": _axes(5),
    # Layouts.
    "a transposed operand": _made_by(*TURNS),
    "a strided operand": _made_by("getitem_strided"),
    "an expanded operand": _made_by("expand"),
    "a reversed operand": _made_by("getitem_reversed"),
    "an operand at an offset": _made_by("getitem_slice"),
    "a view of a view": lambda at: any(len(x.made) > 1 for x in at.operands),
    # Numbers.
    "float32": _of_dtype("float32"),
    "float64": _of_dtype("float64"),
    "complex numbers": lambda at: any(is_complex(x.dtype) for x in at.operands),
    "complex128": _of_dtype("complex128"),
    "two dtypes": lambda at: len({x.dtype for x in at.operands}) > 1,
    "elements that tie": lambda at: np.unique(_first(at).value.array).size < _first(at).size,
    # Operands.
    "its first operand broadcast": lambda at: _stretched(at, 0) and not _stretched(at, 1),
    "its second operand broadcast": lambda at: _stretched(at, 1) and not _stretched(at, 0),
    "both operands broadcast": lambda at: _stretched(at, 0) and _stretched(at, 1),
    "a number beside a tensor": lambda at: {0} < {len(x.shape) for x in at.operands},
    "one tensor as two operands": lambda at: len(set(at.names)) < len(at.names),
    "a batch beside a vector": lambda at: len(_first(at).shape) == 1 and len(at.operands[-1].shape) > 2,
    "a constant beside it": lambda at: len({x.flows for x in at.operands}) > 1,
    "its middle operand alone differentiable": lambda at: [i for i, x in enumerate(at.operands) if x.flows] in _inside(at),
    "many operands": lambda at: len(at.operands) >= MANY,
    "a computed operand": lambda at: any(isinstance(x.source, Op) and not x.made for x in at.operands),
    "an operand that was used before": lambda at: any(at.script.users(x.name, at.number) for x in at.operands if x.flows),
    "a derivative as its operand": lambda at: any(x.order for x in at.operands),
    # Arguments.
    "a negative axis": lambda at: any(axis < 0 for axis in _named_axes(at)),
    "the last axis by its number": lambda at: len(_first(at).shape) - 1 in _named_axes(at),
    "several axes": _has("axis", lambda axis: isinstance(axis, list) and len(axis) > 1),
    "all axes": _has("axis", lambda axis: axis is None),
    "kept axes": _has("keepdims", bool),
    "axes moved in a circle": lambda at: len(at.attrs.get("axes", ())) > 2 and at.attrs["axes"][0] == 1,
    "exponent 3": _has("exponent", lambda e: e == 3.0),
    "an exponent above 4": _has("exponent", lambda e: e > 4.0),
    "a negative exponent": _has("exponent", lambda e: e < 0),
    "a fractional exponent": _has("exponent", lambda e: e != int(e)),
    "a negative number": _has("other", lambda other: other < 0),
    "the number 0": _has("other", lambda other: other == 0),
    "the number 1": _has("other", lambda other: other == 1),
    "a number above 4": _has("other", lambda other: other > 4.0),
    "index -1": lambda at: -1 in _indices(at),
    "a negative index": lambda at: any(i < 0 for i in _indices(at)),
    "an index that repeats": lambda at: len(set(_numbers(at.attrs.get("index")))) < len(_numbers(at.attrs.get("index"))),
    "a step of 3 or more": _has("key", lambda key: any(len(entry) == 3 and entry[2] >= 3 for entry in key)),
    "many parts": _has("sections", lambda parts: len(parts) >= MANY),
    "uneven parts": _has("sections", lambda parts: len(set(parts)) > 1),
    "many repetitions": _has("repeats", lambda repeats: max(_numbers([repeats]), default=0) >= MANY),
    "a far diagonal": _has("diagonal", lambda diagonal: abs(diagonal) >= 3),
    "a shift backwards": _has("shift", lambda shift: shift < 0),
    "wide padding": _has("before", lambda before: max(before, default=0) >= MANY),
    "padding": _has("padding", any),
    "a steep slope": _has("slope", lambda slope: slope > 1),
    "the first axis by its number": lambda at: len(_first(at).shape) > 1 and 0 in _named_axes(at),
    # The past.
    "the second time in a script": lambda at: at.past.applied[at.step.op] == 1,
    "the third time in a process": lambda at: at.process.applied[at.step.op] == 2,
    "a refusal before it": lambda at: at.past.refused > 0,
    "a pass before it": lambda at: at.past.asked["grad"] + at.past.asked["backward"] > 0,
    "a derivative with a graph before it": lambda at: at.past.graphs > 0,
    "a hook before it": lambda at: at.past.asked["hook"] > 0,
}
"""Conditions by their words."""
