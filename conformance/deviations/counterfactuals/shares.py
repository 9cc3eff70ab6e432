"""Counterfactual rules of softmax: what it answers for rows that hold infinities or NaN; see `counterfactuals.rules`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.deviations.counterfactuals.attributes import CLIP
from conformance.deviations.points import BLOCK, fill_a_block
from reference_impl.primitives.softmax import softmax
from reference_impl.tape.rules import replaced_forward

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    Array = np.ndarray[Any, Any]


def shares_clipped_in_blocks(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have softmax clip a difference that is NaN as well, if it stands in a block; of rows that are not finite, in a row of memory.

    A block is clipped at once; what is left over behind the last one is clipped number by number.
    """
    yield replaced_forward(softmax, lambda right: partial(_clipped, right))


def _clipped(right: Callable[..., Array], x: Array, *, axis: int) -> Array:
    made = right(x, axis=axis)
    if not x.size or not fill_a_block(x, axis):
        return made
    rows = x.reshape(-1, x.shape[axis])
    first, whole = rows[:, :1], rows.shape[1] // BLOCK * BLOCK
    largest = np.where(np.isnan(first), first, np.fmax.reduce(rows, axis=1, keepdims=True))  # nothing is larger than NaN
    with np.errstate(all="ignore"):
        differences = rows - largest
        differences[:, :whole] = np.fmax(differences[:, :whole], CLIP)
        differences[:, whole:] = np.maximum(differences[:, whole:], CLIP)
        exponentials = np.exp(differences)
        shares = exponentials / exponentials.sum(axis=1, keepdims=True)
    lost = ~np.isfinite(rows).all(axis=1, keepdims=True)
    return np.where(lost, shares, made.reshape(rows.shape)).reshape(x.shape).astype(made.dtype, copy=False)
