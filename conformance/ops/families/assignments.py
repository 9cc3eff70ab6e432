"""Ops that assign to elements which lists of integers or a mask name, ``x[index] = value``: one row per op.

Both frameworks write them in place; as a function they are applied to a copy. Neither says which of two values stays at a place that is
named twice, so none is.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from conformance.ops.calls import both
from conformance.ops.draws import has_rows, mask_for
from conformance.ops.in_place import LATER
from conformance.ops.numbers import BOTH
from conformance.ops.spec import PLAIN, Drawn, op, rows

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Draft, Sampler


def _value(s: Sampler, shape: tuple[int, ...]) -> Draft:
    """Draw what is assigned to elements of a shape: as many, a row of them, or one without axes."""
    return s.take_shaped(shape[s.source.choice((0, 0, 1, len(shape))) :])


def _at_lists(s: Sampler) -> Arguments | None:
    x = s.take(has_rows)
    leading = x.shape[: s.source.integer(1, min(2, len(x.shape)))]
    count = s.source.integer(1, min(4, math.prod(leading)))
    places = s.source.shuffled(range(math.prod(leading)))[:count]
    index = [i.tolist() for i in np.unravel_index(places, leading)]
    return [x, _value(s, (count, *x.shape[len(leading) :]))], {"index": index}


def _at_mask(s: Sampler) -> Arguments | None:
    x = s.take(has_rows)
    mask = mask_for(s, x.shape[: s.source.integer(1, len(x.shape))])
    count = int(np.count_nonzero(mask))
    return ([x, _value(s, (count, *x.shape[np.ndim(mask) :]))], {"mask": mask}) if count else None


def _written(key: str) -> dict[str, str]:
    return both(f"(lambda out: out.__setitem__({key}, value) or out)(torch.clone(x))")


_row = partial(op, base="setitem", rank=34, exact=True, numbers=BOTH, points=PLAIN, in_place=LATER, drawn=Drawn.NAMED)

ENTRIES = rows(
    "assignments",
    _row("setitem_intarray", draw=_at_lists, calls=_written("tuple(torch.tensor(i) for i in index)")),
    _row("setitem_mask", draw=_at_mask, calls=_written("torch.tensor(mask)")),
)
