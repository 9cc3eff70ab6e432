"""Layouts: how the elements of a tensor lie in memory, made by the ops that make them so in every framework.

A tensor of a layout is a constant, the steps that read it in another way, and the step that makes a leaf of the result. So the
layout is there and nothing of it is differentiated: an op that is asked for its third derivative is not refused because a slice has
but one.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from conformance.case.case import input_of
from conformance.case.steps import Op, SetRequiresGrad

if TYPE_CHECKING:
    from typing import Any

    from conformance.case.case import Case, Input
    from conformance.case.steps import Step

BASE = "_base"
"""What the name of the constant ends with that a tensor of a layout is made of."""
GAP = 5.0
"""What lies where nobody should read."""


class Laid(NamedTuple):
    """An input, and the steps that make of it a tensor of a layout."""

    entry: Input
    steps: tuple[Step, ...]


def _whole(shape: tuple[int, ...]) -> list[list[int]]:
    return [[0, n, 1] for n in shape]


def _transposed(array: Any, name: str, base: str) -> tuple[Any, list[Op]]:
    return np.swapaxes(array, 0, -1), [Op("transpose", (base,), (name,), {"axis0": 0, "axis1": array.ndim - 1})]


def _strided(array: Any, name: str, base: str) -> tuple[Any, list[Op]]:
    held = np.full((*array.shape[:-1], 2 * array.shape[-1]), GAP, array.dtype)
    held[..., ::2] = array
    key = [*_whole(array.shape[:-1]), [0, 2 * array.shape[-1], 2]]
    return held, [Op("getitem_strided", (base,), (name,), {"key": key})]


def _expanded(array: Any, name: str, base: str) -> tuple[Any, list[Op]]:
    axis = _long_axis(array.shape)
    return np.take(array, [0], axis), [Op("expand", (base,), (name,), {"shape": list(array.shape)})]


def _reversed(array: Any, name: str, base: str) -> tuple[Any, list[Op]]:
    axis = _long_axis(array.shape)
    return np.flip(array, axis), [Op("getitem_reversed", (base,), (name,), {"axis": axis})]


def _offset(array: Any, name: str, base: str) -> tuple[Any, list[Op]]:
    held = np.concatenate([np.full((1, *array.shape[1:]), GAP, array.dtype), array])
    return held, [Op("getitem_slice", (base,), (name,), {"key": [[1, 1 + array.shape[0], 1]]})]


def _view_of_a_view(array: Any, name: str, base: str) -> tuple[Any, list[Op]]:
    between = f"{base}_view"
    held, (last,) = _offset(array, name, between)
    under, (first,) = _transposed(held, between, base)
    return under, [first, last]


LAYOUTS = {
    "contiguous": lambda array, _name, _base: (array, []),
    "transposed": _transposed,
    "strided": _strided,
    "expanded": _expanded,
    "negative step": _reversed,
    "view of a view": _view_of_a_view,
    "offset": _offset,
}


@functools.cache
def fitting(shape: tuple[int, ...]) -> tuple[str, ...]:
    """Return the layouts that a tensor of a shape may have, other than in name."""
    if not shape or 0 in shape:
        return ("contiguous",)
    found = ["contiguous", "strided", "offset"]
    if max(shape) > 1:
        found += ["expanded", "negative step"]
    if len(shape) > 1 and shape[0] > 1 and shape[-1] > 1:
        found.append("transposed")
    if len(shape) > 1:
        found.append("view of a view")
    return tuple(name for name in LAYOUTS if name in found)


def repeated(array: Any) -> Any:
    """Return an array with the elements that an expanded one can have: those of its first entry along an axis, again and again."""
    axis = _long_axis(array.shape)
    return np.broadcast_to(np.take(array, [0], axis), array.shape)


def _long_axis(shape: tuple[int, ...]) -> int:
    return next((i for i, n in enumerate(shape) if n > 1), 0)


def laid_out(case: Case) -> set[str]:
    """Return the tensors of a case that were made in a layout, by the names of the inputs that they were made of."""
    return {entry.name.removesuffix(BASE) for entry in case.inputs if entry.name.endswith(BASE)}


def laid(array: Any, layout: str, name: str, *, differentiable: bool) -> Laid:
    """Return a tensor of some elements in a layout; an expanded one has those that it can have."""
    if layout not in fitting(array.shape):
        layout = "contiguous"
    base = name if layout == "contiguous" else f"{name}{BASE}"
    held, ops = LAYOUTS[layout](array, name, base)
    steps: list[Step] = [*ops, *([SetRequiresGrad(name, True)] if ops and differentiable else [])]
    return Laid(input_of(base, np.ascontiguousarray(held).reshape(held.shape), differentiable=differentiable and not ops), tuple(steps))
