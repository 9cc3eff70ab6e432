"""Ops that replace a part of a tensor: one row per op.

Both frameworks write them in place (``x[key] = value``, ``x.fill_(value)``); as a function they are applied to a copy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.ops.calls import both
from conformance.ops.corners import several
from conformance.ops.draws import has_rows, unary
from conformance.ops.in_place import SLICES, InPlaceForm, attribute
from conformance.ops.numbers import BOTH, UNREGISTERED, real_only
from conformance.ops.spec import PLAIN, op, rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.ops.sampler import Arguments, Draft, Draw, Sampler


def _replaced(s: Sampler, x: Draft) -> Arguments | None:
    """Draw a part of ``x``, less than all, and what replaces it: a tensor of the part's shape, or one that is broadcast to it."""
    if not x.shape or 0 in x.shape:
        return None
    key = []
    for n in x.shape[: s.source.integer(1, len(x.shape))]:
        start = s.source.integer(0, n - 1)
        key.append([start, s.source.integer(start + 1, n), s.source.choice((1, 1, 2))])
    shape = tuple(len(range(*k)) for k in key) + x.shape[len(key) :]
    if shape == x.shape:
        return None
    return [x, s.take_shaped(shape[s.source.choice((0, 0, len(shape))) :])], {"key": key}


def _setitem(s: Sampler) -> Arguments | None:
    return _replaced(s, s.take(has_rows))


def _fill(s: Sampler) -> Arguments | None:
    return [s.take()], {"value": s.number()}


def _assigned(choose: Callable[[int], list[int]]) -> Draw:
    """Replace a part of the first axis, less than all, by a tensor that is broadcast to it."""

    def draw(s: Sampler) -> Arguments | None:
        x = s.take(lambda d: has_rows(d) and d.shape[0] > 1)
        return [x, s.take_shaped(x.shape[1:])], {"key": [choose(x.shape[0])]}

    return draw


def _part(s: Sampler, target: Draft) -> Arguments | None:
    drawn = _replaced(s, target)
    return None if drawn is None else (drawn[0][1:], drawn[1])


ENTRIES = rows(
    "update",
    op(
        "setitem",
        rank=34,
        draw=_setitem,
        calls=both(f"(lambda out: out.__setitem__({SLICES}, value) or out)(torch.clone(x))"),
        exact=True,
        numbers=BOTH,
        corners={
            "last": _assigned(lambda n: [-1, n, 1]),
            "strided": _assigned(lambda n: [0, n, 2]),
            "negative ends": _assigned(lambda n: [-n, -1, 1]),
        },
        points=PLAIN,
        in_place=InPlaceForm(both(f"x.__setitem__({SLICES}, value)"), draw=_part, partial=True, turn=2),
    ),
    op(
        "fill",
        base="fill_",
        rank=271,
        draw=_fill,
        calls=both("torch.clone(x).fill_(value)"),
        exact=True,
        numbers=real_only(UNREGISTERED),
        corners=several("value", 0.0, 7.5, -6.0, draw=unary()),
        points=PLAIN,
        in_place=InPlaceForm(both("x.fill_(value)"), draw=attribute("value", lambda s: s.number()), turn=1),
    ),
)
