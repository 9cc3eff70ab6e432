"""Counterfactual rules of elements that share a place or a segment, and roots of partial windows; see `counterfactuals.rules`."""

from __future__ import annotations

import math
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.deviations.changed_rules import changed_rules
from reference_impl import OPS
from reference_impl.primitives import pooling
from reference_impl.primitives.arithmetic import div, mul
from reference_impl.primitives.indexing import gather, getitem_intarray, index_select
from reference_impl.primitives.selection import masked_fill
from reference_impl.primitives.shape import reshape
from reference_impl.tape.primitive import array_of, shape_of
from reference_impl.tape.rules import replaced_op

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from reference_impl.tape.rules import Rule

UNPOOLINGS = ("max_unpool1d", "max_unpool2d", "max_unpool3d")
SEGMENTS = ("segment_max", "segment_min")


def written_over_elements_kept(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradient of an unpooling go to every element that is written to a place, also where another is written over it."""
    yield changed_rules(UNPOOLINGS, _read_back)


def _read_back(_right: Rule, _position: int, g: Any, _out: Any, x: Any, *, index: Any, **_: Any) -> Any:
    shape = shape_of(x)
    lists = np.reshape(index, (*shape[:2], math.prod(shape[2:])))
    planes = reshape(g, shape=(*shape[:2], math.prod(shape_of(g)[2:])))
    return reshape(gather(planes, axis=2, index=lists), shape=shape)


def tied_elements_of_segments_unshared(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradient of the extremum of a segment go to every element that reaches it, undivided."""
    yield changed_rules(SEGMENTS, _undivided)


def _undivided(_right: Rule, _position: int, g: Any, out: Any, x: Any, *, index: Any) -> Any:
    reaches = np.equal(array_of(x), array_of(out)[index]).astype(array_of(x).dtype)
    return mul(index_select(g, axis=0, index=index), reaches)


def negative_gradients_of_segments_unshared(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradient of the extremum of a segment go undivided to every element that reaches it where it is negative."""
    yield changed_rules(SEGMENTS, _undivided_if_negative)


def _undivided_if_negative(right: Rule, position: int, g: Any, out: Any, x: Any, *, index: Any) -> Any:
    whole = _undivided(right, position, g, out, x, index=index)  # the rule of segment_min goes through that of segment_max
    tied = np.zeros(shape_of(out), array_of(x).dtype)
    np.add.at(tied, np.asarray(index), np.equal(array_of(x), array_of(out)[index]).astype(tied.dtype))
    return div(whole, np.where(array_of(whole) < 0, 1, tied[index]).astype(tied.dtype))


def overlaps_not_summed(ops: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have an element that lies in several windows get the gradient of the last of them, and not the sum."""
    yield changed_rules(ops, _of_last_window)


def _of_last_window(_right: Rule, _position: int, g: Any, _out: Any, x: Any, **attrs: Any) -> Any:
    shape, read = shape_of(x), OPS["as_strided" if "strides" in attrs else "tensor_unfold"].forward  # type: ignore[attr-defined]
    places = np.ravel(read(np.arange(np.prod(shape, dtype=int)).reshape(shape), **attrs))
    last = np.full(np.prod(shape, dtype=int), -1)
    np.maximum.at(last, places, np.arange(places.size))
    taken = getitem_intarray(reshape(g, shape=(places.size,)), index=[np.maximum(last, 0)])
    return reshape(masked_fill(taken, mask=last < 0, value=0.0), shape=shape)


def partial_windows_whole(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the mean of a window that ends behind the last place be multiplied by the size of a whole one, below its root."""
    yield _of_whole_windows()


@contextmanager
def _of_whole_windows() -> Iterator[None]:
    def one(x: Any, **attrs: Any) -> Any:
        return pooling.root_of_means(pooling.avg_pool1d_ceil, x, count=math.prod(attrs["kernel"]), **attrs)

    def two(x: Any, **attrs: Any) -> Any:
        return pooling.root_of_means(pooling.avg_pool2d_ceil, x, count=math.prod(attrs["kernel"]), **attrs)

    with replaced_op("lp_pool1d_ceil_of_means", lambda _: one), replaced_op("lp_pool2d_ceil_of_means", lambda _: two):
        yield
