"""Ops that replace a part of a tensor: how to draw their arguments, and their calls in each framework.

Both frameworks write them in place (``x[key] = value``, ``x.fill_(value)``); as a function they are applied to a copy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.ops.key import SLICES
from conformance.ops.spec import rows

if TYPE_CHECKING:
    from conformance.generate.sketch import Draft, Sketch
    from conformance.ops.draws import Drawn


def replaced(s: Sketch, x: Draft) -> Drawn:
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


def _setitem(s: Sketch) -> Drawn:
    return replaced(s, s.take(lambda d: len(d.shape) >= 1 and 0 not in d.shape))


def _fill(s: Sketch) -> Drawn:
    return [s.take()], {"value": s.number()}


_COPY = "(lambda out: out.__setitem__({key}, value) or out)({framework}.clone(x))"

ENTRIES = rows(
    "update",
    (
        *("setitem", "setitem", 34, _setitem),
        _COPY.format(key=SLICES, framework="torch"),
        _COPY.format(key=SLICES, framework="paddle"),
    ),
    ("fill", "fill_", 271, _fill, "torch.clone(x).fill_(value)", "paddle.clone(x).fill_(value)"),
)
