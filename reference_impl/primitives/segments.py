"""Reductions of segments: rows of the first axis that lie beside each other and have one number become one row.

The numbers are plain data, in ascending order, a list of integers from 0 on; a number that does not come is a segment without rows.
Sources: the pages of ``torch.segment_reduce`` and ``paddle.geometric`` on each.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.primitives.arithmetic import div, neg
from reference_impl.primitives.fused import fused
from reference_impl.primitives.indexing import index_add_rows, index_select
from reference_impl.primitives.reduction import amax
from reference_impl.primitives.selection import masked_fill
from reference_impl.primitives.shape import reshape
from reference_impl.tape.primitive import shape_of


def _table(index: Any) -> tuple[Any, Any]:
    """Return the rows of each segment, as many for all of them, and a mask that is true where a segment is shorter than that."""
    starts, counts = np.searchsorted(index, np.arange(index[-1] + 1)), np.bincount(index)
    steps = np.arange(np.max(counts))
    return np.minimum(starts[:, None] + steps, len(index) - 1), steps >= counts[:, None]


@fused()
def segment_sum(x: Any, *, index: Any) -> Any:
    """Return the sum of each segment, which is 0 where it has no rows."""
    return index_add_rows(x, axis=0, index=index, length=index[-1] + 1)


@fused()
def segment_mean(x: Any, *, index: Any) -> Any:
    """Return the mean of each segment."""
    counts = np.bincount(index).astype(x.dtype)
    return div(segment_sum(x, index=index), np.reshape(counts, (-1, *(1,) * (len(shape_of(x)) - 1))))


@fused()
def segment_max(x: Any, *, index: Any) -> Any:
    """Return the largest element of each segment; those that tie share the cotangent evenly."""
    rows, beyond = _table(index)
    rest = shape_of(x)[1:]
    table = reshape(index_select(x, axis=0, index=np.ravel(rows)), shape=(*rows.shape, *rest))
    return amax(masked_fill(table, mask=np.reshape(beyond, (*rows.shape, *(1,) * len(rest))), value=-np.inf), axis=[1], keepdims=False)


@fused()
def segment_min(x: Any, *, index: Any) -> Any:
    """Return the smallest element of each segment; those that tie share the cotangent evenly."""
    return neg(segment_max(neg(x), index=index))
