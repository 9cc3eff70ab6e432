"""Windows over the places of tensors ``(n, c, places...)``: what pooling, convolution, unfold and fold are made of.

Whatever slides over places, or divides them, is written as a table of windows: for each window the flat positions of its elements, in
the border of a padding too. To read a table is `index_select`, and its transpose adds up at the positions, so every order of derivative
follows from these two.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from reference_impl.primitives.indexing import index_add_rows, index_select
from reference_impl.primitives.shape import crop, pad_constant, reshape
from reference_impl.tape.primitive import shape_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    Positions = Sequence[Any]
    """For each axis of places the positions ``(windows, elements)`` of the elements of each window along that axis."""


def sliding(counts: Sequence[int], kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int]) -> Positions:
    """Return the positions of windows that slide: ``counts`` windows of ``kernel`` elements each, ``dilation`` apart."""
    along = zip(counts, kernel, stride, dilation, strict=True)
    return [np.arange(count)[:, None] * s + np.arange(k) * d for count, k, s, d in along]


def parts(length: int, count: int) -> list[tuple[int, int]]:
    """Return where each of ``count`` parts of ``length`` places begins and ends; they overlap where the division leaves a rest.

    Part i is from i length / count, rounded down, to (i + 1) length / count, rounded up: the adaptive poolings of both frameworks.
    """
    return [(i * length // count, -(-(i + 1) * length // count)) for i in range(count)]


def uneven(places: Sequence[int], size: Sequence[int]) -> Positions:
    """Return the positions of `parts` along each axis; a part that is shorter than others repeats its last element."""
    found = []
    for length, count in zip(places, size, strict=True):
        ends = parts(length, count)
        longest = max(stop - start for start, stop in ends)
        found.append(np.array([[min(start + i, stop - 1) for i in range(longest)] for start, stop in ends]))
    return found


def fractional(length: int, kernel: int, count: int, sample: float) -> Any:
    """Return the positions of ``count`` regions of ``kernel`` places, the last of which ends where the axis does.

    Region i begins at ``(i + u) a``, rounded down, less ``u a``, rounded down, for a sample ``u`` between 0 and 1 and the step ``a``
    that leads from the first place to the last region: the fractional poolings of both frameworks.
    """
    step = (length - kernel) / max(count - 1, 1)
    starts = [int((i + sample) * step) - int(sample * step) for i in range(count - 1)]
    return np.array([*starts, length - kernel])[:, None] + np.arange(kernel)


def flat(places: Sequence[int], positions: Positions) -> tuple[tuple[int, ...], int, Any]:
    """Return how many windows there are along each axis, how many elements each has, and their flat positions, window by window."""
    rank = len(places)
    found: Any = 0
    for axis, along in enumerate(positions):
        shape = [along.shape[0] if i == axis else along.shape[1] if i == rank + axis else 1 for i in range(2 * rank)]
        found = found * places[axis] + along.reshape(shape)
    return tuple(along.shape[0] for along in positions), math.prod(along.shape[1] for along in positions), np.reshape(found, -1)


def gathered(x: Any, positions: Positions) -> Any:
    """Return the elements of each window: ``(n, c, places...) -> (n, c, windows..., elements)``."""
    batch, places = shape_of(x)[:2], shape_of(x)[2:]
    counts, elements, index = flat(places, positions)
    rows = reshape(x, shape=(*batch, math.prod(places)))
    return reshape(index_select(rows, axis=2, index=index), shape=(*batch, *counts, elements))


def scattered(x: Any, positions: Positions, places: Sequence[int]) -> Any:
    """Add the elements of windows up at their places: ``(n, c, windows..., elements) -> (n, c, places...)``."""
    batch = shape_of(x)[:2]
    _, _, index = flat(places, positions)
    rows = reshape(x, shape=(*batch, len(index)))
    return reshape(index_add_rows(rows, axis=2, index=index, length=math.prod(places)), shape=(*batch, *places))


def rounded_up(places: Sequence[int], kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int]) -> list[int]:
    """Return how many windows there are along each axis that begin before the end of the places (``ceil_mode``).

    The last one may end behind the border. One that would begin there is left out, as PyTorch documents.
    """
    along = zip(places, kernel, stride, padding, strict=True)
    return [min(-(-(n + 2 * p - k) // s), (n + p - 1) // s) + 1 for n, k, s, p in along]


def windows_rounded_up(x: Any, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int], fill: float) -> Any:
    """Return the elements of so many windows; ``fill`` is in the border, and behind it."""
    counts = rounded_up(shape_of(x)[2:], kernel, stride, padding)
    ends = [(count - 1) * s + k for count, k, s in zip(counts, kernel, stride, strict=True)]
    behind = [max(end - n - p, 0) for end, n, p in zip(ends, shape_of(x)[2:], padding, strict=True)]
    wide = pad_constant(x, before=[0, 0, *padding], after=[0, 0, *behind], value=fill)
    return gathered(wide, sliding(counts, kernel, stride, [1] * len(kernel)))


def bordered(x: Any, padding: Sequence[int], fill: float) -> Any:
    """Return ``x`` with a border around its places."""
    around = [0, 0, *padding]
    return pad_constant(x, before=around, after=around, value=fill) if any(around) else x


def without_border(x: Any, padding: Sequence[int]) -> Any:
    """Cut a border off."""
    around = [0, 0, *padding]
    return crop(x, before=around, after=around) if any(around) else x


def reach(kernel: Sequence[int], dilation: Sequence[int]) -> list[int]:
    """Return over how many places a window reaches along each axis."""
    return [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]


def windows(
    x: Any,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    fill: float,
    dilation: Sequence[int] | None = None,
) -> Any:
    """Return the elements under each position of a kernel: ``(n, c, places...) -> (n, c, windows..., k)``; the border is ``fill``."""
    apart = [1] * len(kernel) if dilation is None else dilation
    wide = bordered(x, padding, fill)
    along = zip(shape_of(wide)[2:], reach(kernel, apart), stride, strict=True)
    return gathered(wide, sliding([(n - k) // s + 1 for n, k, s in along], kernel, stride, apart))
