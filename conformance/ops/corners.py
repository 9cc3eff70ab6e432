"""Corners: arguments that random graphs meet by luck or never, each with a name, for the grid to enumerate.

A draw of a row is chosen from, so its corners are rare; and to make it wider changes the scripts of every seed. So a row says its
corners beside its draw. Each is a draw like any other, so that it says by itself on which shapes there is one::

    corners={"last axis": on(lambda x: {"axis": -1} if x.shape else None)}
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from conformance.ops.sampler import Arguments, Draft, Draw, Sampler
    from reference_impl.tape.primitive import Domain

MANY = 12
"""The most parts that an axis is cut into: each is a result, with a seed of its own."""
LONG = 32
"""How many elements the blocks of vectorised code have at most along an axis."""
REDUCTIONS = ("mean", "sum", "none")
"""What a loss may make of its terms."""


def on(attrs: Callable[[Draft], dict[str, Any] | None], domain: Domain | None = None) -> Draw:
    """Draw one operand, and attributes that its shape says; ``None`` where they do not fit."""

    def draw(s: Sampler) -> Arguments | None:
        x = s.take(lambda d: attrs(d) is not None, domain=domain)
        found = attrs(x)
        return None if found is None else ([x], found)

    return draw


def given(draw: Draw, **attrs: Any) -> Draw:
    """Draw what a row does, with some attributes given."""

    def changed(s: Sampler) -> Arguments | None:
        drawn = draw(s)
        return None if drawn is None else (drawn[0], {**drawn[1], **attrs})

    return changed


def rounded(draw: Draw) -> Draw:
    """Draw what a row does, where numbers may be rounded."""
    return lambda s: None if s.exact else draw(s)


def several(name: str, *values: float, draw: Draw) -> dict[str, Draw]:
    """Return one corner for each of these values of an attribute."""
    return {f"{name} {value:g}": given(draw, **{name: value}) for value in values}


def each_reduction(draw: Draw, *reductions: str) -> dict[str, Draw]:
    """Return one corner for each of these reductions of a loss, or for each of `REDUCTIONS`."""
    return {reduction: given(draw, reduction=reduction) for reduction in reductions or REDUCTIONS}


def axes(*, nonempty: bool = False, domain: Domain | None = None, **more: Any) -> dict[str, Draw]:
    """Return a corner for each kind of axis: the first, the last and one in the middle, counted from the front and from the back."""

    def at(axis: int) -> Draw:
        return on(
            lambda x: {"axis": axis, **more} if -len(x.shape) <= axis < len(x.shape) and not (nonempty and 0 in x.shape) else None,
            domain,
        )

    return {"first axis": at(0), "last axis": at(-1), "axis 1": at(1), "axis -2": at(-2)}


def long_last_axis() -> dict[str, Draw]:
    """Return a corner of the last axis of several, counted from the back, where it is longer than a block of vectorised code."""
    return {"long last axis": on(lambda x: {"axis": -1} if len(x.shape) > 1 and x.shape[-1] > LONG else None)}


def kept(corners: Mapping[str, Draw]) -> dict[str, Draw]:
    """Give corners ``keepdims`` by turns: off in the first, on in the next."""
    return {
        f"{name}, kept" if turn % 2 else name: given(draw, keepdims=bool(turn % 2)) for turn, (name, draw) in enumerate(corners.items())
    }


def axis_lists(*, nonempty: bool = False) -> dict[str, Draw]:
    """Return corners of all axes, and of several; counted from either end, with ``keepdims`` and without."""
    return {
        "all": _listed(lambda _: None, 0, keepdims=False, nonempty=nonempty),
        "all, kept": _listed(lambda _: None, 0, keepdims=True, nonempty=nonempty),
        "last axis": _listed(lambda _: [-1], 1, keepdims=False, nonempty=nonempty),
        "first axis, kept": _listed(lambda _: [0], 1, keepdims=True, nonempty=nonempty),
        **several_axes(nonempty=nonempty),
    }


def several_axes(*, nonempty: bool) -> dict[str, Draw]:
    """Return corners of several axes, for an op of which one axis alone is drawn, too."""
    return {
        "two axes": _listed(lambda _: [0, -1], 2, keepdims=False, nonempty=nonempty),
        "two axes, kept": _listed(lambda _: [-2, -1], 2, keepdims=True, nonempty=nonempty),
        "every axis by name": _listed(lambda n: list(range(n)), 1, keepdims=False, nonempty=nonempty),
    }


def _listed(choose: Callable[[int], list[int] | None], least: int, *, keepdims: bool, nonempty: bool) -> Draw:
    """Draw an operand with ``least`` axes or more, and which of them are reduced."""
    return on(
        lambda x: (
            {"axis": choose(len(x.shape)), "keepdims": keepdims} if len(x.shape) >= least and not (nonempty and 0 in x.shape) else None
        )
    )


def equal_parts(axis: int) -> Draw:
    """Cut an axis into as many equal parts as there can be, up to `MANY`."""

    def sections(x: Draft) -> dict[str, Any] | None:
        length = x.shape[axis] if -len(x.shape) <= axis < len(x.shape) else 0
        parts = max((n for n in range(2, MANY + 1) if length and length % n == 0), default=0)
        return {"sections": [length // parts] * parts, "axis": axis} if parts else None

    return on(sections)


def uneven_parts(axis: int) -> Draw:
    """Cut an axis into parts of one, of nearly all, and of two."""

    def sections(x: Draft) -> dict[str, Any] | None:
        length = x.shape[axis] if -len(x.shape) <= axis < len(x.shape) else 0
        return {"sections": [1, length - 3, 2], "axis": axis} if length >= 4 else None

    return on(sections)


def joined(count: int, axis: int, *, new: bool = False, uneven: bool = False) -> Draw:
    """Join a number of operands along an axis, or along a ``new`` one; ``uneven``: they have different lengths there."""

    def draw(s: Sampler) -> Arguments | None:
        x = s.take(lambda d: -len(d.shape) - new <= axis < len(d.shape) + new)
        others = []
        for number in range(1, count):
            shape = list(x.shape)
            if uneven:
                shape[axis] = number
            others.append(s.take_shaped(tuple(shape)))
        return [x, *others], {"axis": axis}

    return draw


def multiplied(form: str) -> Draw:
    """Multiply matrices.

    ``form`` is what the second operand is: a vector, a matrix, a batch that broadcasts, the first's like, or a batch beside a vector.
    """

    def draw(s: Sampler) -> Arguments | None:
        least = {"vector": 1, "matrix": 1, "batch": 2, "square": 2}.get(form, 1)
        most = 1 if form == "batch beside a vector" else 5
        x = s.take(lambda d: least <= len(d.shape) <= most and (form != "square" or d.shape[-1] == d.shape[-2]))
        k, batch = x.shape[-1], x.shape[:-2]
        match form:
            case "vector":
                return [x, s.take_shaped((k,))], {}
            case "matrix":
                return [x, s.take_shaped((k, 3))], {}
            case "square":
                return [x, s.take_shaped(x.shape)], {}
            case _:
                return [x, s.take_shaped((2, *(1 if i % 2 == 0 else n for i, n in enumerate(batch)), k, 2))], {}

    return draw


def keys(*choose: Callable[[int], list[Any]]) -> Draw:
    """Slice the leading axes: for each of them start, stop and step, from its length."""

    def key(x: Draft) -> dict[str, Any] | None:
        if len(x.shape) < len(choose) or 0 in x.shape:
            return None
        found = [one(n) for one, n in zip(choose, x.shape, strict=False)]
        return {"key": found} if all(len(range(*slice(*k).indices(n))) for k, n in zip(found, x.shape, strict=False)) else None

    return on(key)


def count_of(x: Draft) -> int:
    """Return how many elements a value has."""
    return math.prod(x.shape)
