"""Discrete Fourier transforms: one row per op, in one dimension, in two, and in any number of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.ops.calls import both
from conformance.ops.corners import on
from conformance.ops.draws import axis_of, has_matrices, has_rows
from conformance.ops.numbers import BOTH, COMPLEX, real_only
from conformance.ops.spec import PLAIN, Drawn, OpSpec, op, rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.ops.numbers import Numbers
    from conformance.ops.sampler import Arguments, Draft, Draw, Sampler

OF_REAL = real_only("the half that it keeps is the whole spectrum of real numbers alone")
NORMS = ("backward", "ortho", "forward")
LONGEST = 5
"""The greatest length that an axis is filled to with zeros."""


def _lengths(s: Sampler, x: Draft, axes: Sequence[int], *, half: bool) -> list[int] | None:
    """Choose to what lengths axes are cut or filled, or none; of half a spectrum that is one number, the usual one would be 0."""
    if s.source.chance(0.4) or (half and x.shape[axes[-1]] == 1):
        return [s.source.integer(1, LONGEST) for _ in axes]
    return None


def _along_one(*, half: bool) -> Draw:
    def draw(s: Sampler) -> Arguments | None:
        x = s.take(has_rows)
        axis = axis_of(s, x)
        (n,) = _lengths(s, x, [axis], half=half) or (None,)
        return [x], {"n": n, "axis": axis, "norm": s.source.choice(NORMS)}

    return draw


def _along_some(*, half: bool) -> Draw:
    def draw(s: Sampler) -> Arguments | None:
        x = s.take(has_rows)
        every = list(range(-len(x.shape), 0))
        axes = None if s.source.chance(0.4) else s.source.shuffled(s.source.subset(every, at_least=1))
        lengths = _lengths(s, x, axes or every, half=half)
        return [x], {"s": lengths, "axes": axes, "norm": s.source.choice(NORMS)}

    return draw


def _along_two(*, half: bool) -> Draw:
    def draw(s: Sampler) -> Arguments | None:
        x = s.take(has_matrices, shape=(2, 3))
        axes = s.source.choice([[-2, -1], [0, 1], [-1, 0]])
        return [x], {"s": _lengths(s, x, axes, half=half), "axes": axes, "norm": s.source.choice(NORMS)}

    return draw


def _one_at(*, axis: int, norm: str, more: int | None, half: bool) -> Draw:
    """Draw a transform along an axis whose length grows by so much, or ``None`` where it stays."""

    def attrs(x: Draft) -> dict[str, Any] | None:
        if not (-len(x.shape) <= axis < len(x.shape)) or 0 in x.shape or (half and more is None and x.shape[axis] == 1):
            return None
        n = None if more is None else x.shape[axis] + more
        return None if n is not None and n < 1 else {"n": n, "axis": axis, "norm": norm}

    return on(attrs)


def _corners_of_one(*, half: bool) -> dict[str, Draw]:
    return {
        "last axis": _one_at(axis=-1, norm="backward", more=None, half=half),
        "first axis, ortho": _one_at(axis=0, norm="ortho", more=None, half=half),
        "cut": _one_at(axis=-1, norm="forward", more=-1, half=half),
        "filled": _one_at(axis=-1, norm="backward", more=2, half=half),
        "filled by one": _one_at(axis=0, norm="ortho", more=1, half=half),
        "twice as long, less one": on(lambda x: {"n": 2 * x.shape[-1] - 1, "axis": -1, "norm": "backward"} if has_rows(x) else None),
    }


def _says_length(x: Draft, *, half: bool) -> bool:
    """Whether the last axis says how long its transform is by itself."""
    return has_rows(x) and not (half and x.shape[-1] == 1)


def _corners_of_some(*, half: bool) -> dict[str, Draw]:
    return {
        "all": on(lambda x: {"s": None, "axes": None, "norm": "backward"} if _says_length(x, half=half) else None),
        "last axis, forward": on(lambda x: {"s": None, "axes": [-1], "norm": "forward"} if _says_length(x, half=half) else None),
        "all, filled": on(lambda x: {"s": [n + 1 for n in x.shape], "axes": None, "norm": "backward"} if has_rows(x) else None),
        "last two": on(lambda x: {"s": [2, 3], "axes": None, "norm": "ortho"} if has_matrices(x) else None),
    }


def _corners_of_two(*, half: bool) -> dict[str, Draw]:
    def plain(x: Draft) -> dict[str, Any] | None:
        return {"s": None, "axes": [-2, -1], "norm": "backward"} if len(x.shape) >= 2 and _says_length(x, half=half) else None

    def filled(x: Draft) -> dict[str, Any] | None:
        return {"s": [3, 4], "axes": [-2, -1], "norm": "ortho"} if has_matrices(x) else None

    return {"last two": on(plain), "filled or cut": on(filled)}


def _transform(name: str, rank: int, numbers: Numbers, *, half: bool = False) -> OpSpec:
    """Make the row of a transform along one axis; ``half``: it is given half a spectrum."""
    return op(
        name,
        rank=rank,
        draw=_along_one(half=half),
        calls=both(f"torch.fft.{name}(x, n, axis, norm)"),
        exact=False,
        numbers=numbers,
        corners=_corners_of_one(half=half),
        points=PLAIN,
        drawn=Drawn.NAMED,
    )


def _of_more(row: OpSpec, ranks: tuple[int, int], *, half: bool = False) -> list[OpSpec]:
    """Make the rows of the same transform along any axes, and along two."""
    some, two = f"{row.name}n", f"{row.name}2"
    return [
        replace(
            row,
            name=some,
            base_op=some,
            rank=ranks[0],
            calls=both(f"torch.fft.{some}(x, s, axes, norm)"),
            draw=_along_some(half=half),
            corners=_corners_of_some(half=half),
        ),
        replace(
            row,
            name=two,
            base_op=two,
            rank=ranks[1],
            calls=both(f"torch.fft.{two}(x, s, axes, norm)"),
            draw=_along_two(half=half),
            corners=_corners_of_two(half=half),
        ),
    ]


def _axes_of(s: Sampler) -> Arguments | None:
    x = s.take(has_rows)
    return [x], {"axes": None if s.source.chance(0.4) else s.source.subset(range(-len(x.shape), 0), at_least=1)}


def _shift(name: str, rank: int) -> OpSpec:
    return op(
        name,
        rank=rank,
        draw=_axes_of,
        calls=both(f"torch.fft.{name}(x, axes)"),
        exact=True,
        numbers=BOTH,
        corners={
            "all": on(lambda x: {"axes": None} if has_rows(x) else None),
            "first axis": on(lambda x: {"axes": [0]} if has_rows(x) else None),
            "two axes": on(lambda x: {"axes": [0, -1]} if has_matrices(x) else None),
        },
        points=PLAIN,
        drawn=Drawn.NAMED,
    )


FFT = _transform("fft", 181, BOTH)
IFFT = _transform("ifft", 345, BOTH)
RFFT = _transform("rfft", 211, OF_REAL)
IRFFT = _transform("irfft", 192, COMPLEX, half=True)
HFFT = _transform("hfft", 346, COMPLEX, half=True)
IHFFT = _transform("ihfft", 347, OF_REAL)

ENTRIES = rows(
    "fourier",
    FFT,
    IFFT,
    RFFT,
    IRFFT,
    HFFT,
    IHFFT,
    *_of_more(FFT, (149, 348)),
    *_of_more(IFFT, (354, 349)),
    *_of_more(RFFT, (355, 350)),
    *_of_more(IRFFT, (356, 351), half=True),
    *_of_more(HFFT, (357, 352), half=True),
    *_of_more(IHFFT, (358, 353)),
    _shift("fftshift", 359),
    _shift("ifftshift", 360),
)
