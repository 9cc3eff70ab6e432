"""Images that are read between their places, and moves between places and channels: one row per op."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from conformance.ops.calls import both
from conformance.ops.corners import on
from conformance.ops.draws import has_elements
from conformance.ops.numbers import UNIMPLEMENTED, UNREGISTERED, real_only
from conformance.ops.spec import PLAIN, Drawn, OpSpec, op, rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.ops.sampler import Arguments, Draft, Draw, Sampler

SHAPE = (1, 2, 3, 4, 2)
FLAGS = (False, True)


def _has_places(rank: int, x: Draft) -> bool:
    return len(x.shape) == 2 + rank and has_elements(x)


def _resized(rank: int, *, corners: tuple[bool, ...] = ()) -> Draw:
    """Draw a tensor with so many axes of places, and a new length of each; ``corners``: what ``align_corners`` may be."""

    def draw(s: Sampler) -> Arguments | None:
        x = s.take(lambda d: _has_places(rank, d), shape=SHAPE[: 2 + rank])
        attrs: dict[str, Any] = {"size": [s.source.integer(1, 5) for _ in range(rank)]}
        return [x], {**attrs, "align_corners": s.source.choice(corners)} if corners else attrs

    return draw


def _shuffled(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: _has_places(2, d) and d.shape[1] % 4 == 0, shape=(1, 4, 2, 2))
    return [x], {"factor": 2}


def _unshuffled(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: _has_places(2, d) and d.shape[2] % 2 == 0 and d.shape[3] % 2 == 0, shape=(1, 2, 2, 4))
    return [x], {"factor": 2}


def _affine(s: Sampler) -> Arguments | None:
    theta = s.take(lambda d: len(d.shape) == 3 and d.shape[0] > 0 and d.shape[1:] == (2, 3), shape=(2, 2, 3))
    size = [theta.shape[0], s.source.integer(1, 2), s.source.integer(1, 4), s.source.integer(1, 4)]
    return [theta], {"size": size, "align_corners": s.source.choice((True, False))}


def _sampled(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: _has_places(2, d), shape=(1, 2, 3, 4))
    grid = s.take_shaped((x.shape[0], s.source.integer(1, 3), s.source.integer(1, 3), 2))
    return [x, grid], {"align_corners": s.source.choice((True, False))}


def _bordered(most: Callable[[int], int]) -> Draw:
    """Draw images and how much is put around them, before and behind each axis of places; ``most``: of an axis so long.

    Something is put around them: of no border at all the image itself comes back, with or without a node.
    """

    def fits(x: Draft) -> bool:
        return 3 <= len(x.shape) <= 5 and has_elements(x) and any(map(most, x.shape[2:]))

    def draw(s: Sampler) -> Arguments | None:
        x = s.take(fits, shape=SHAPE[: 2 + s.source.integer(1, 3)])
        around = [[s.source.integer(0, most(n)) for _ in range(2)] for n in x.shape[2:]]
        if not any(map(any, around)):
            around = [[most(n), 0] for n in x.shape[2:]]
        return [x], {"before": [front for front, _ in around], "after": [behind for _, behind in around]}

    return draw


def _widest(most: Callable[[int], int]) -> dict[str, Draw]:
    """Return the corner of the widest borders on both sides: each place is read several times."""

    def attrs(x: Draft) -> dict[str, Any] | None:
        around = [most(n) for n in x.shape[2:]]
        return {"before": around, "after": around} if 3 <= len(x.shape) <= 5 and has_elements(x) and any(around) else None

    return {"widest": on(attrs)}


_row = partial(op, numbers=real_only(UNREGISTERED), points=PLAIN, drawn=Drawn.NAMED)
ALIGNED = ", align_corners=align_corners"
FORMATS = {1: ", data_format='NCW'", 2: "", 3: ", data_format='NCDHW'"}
"""How Paddle is told that there are so many axes of places; two are what it takes for granted."""


def _interpolate(mode: str, rank: int, rest: str = "") -> dict[str, str]:
    call = f"nn.functional.interpolate(x, size=size, mode='{mode}'{rest}"
    return {"torch": f"torch.{call})", "paddle": f"paddle.{call}{FORMATS[rank]})"}


BILINEAR = _row(
    "interpolate_bilinear",
    base="interpolate",
    rank=57,
    draw=_resized(2, corners=FLAGS),
    calls=_interpolate("bilinear", 2, ALIGNED),
    exact=False,
)


def _pad(mode: str, most: Callable[[int], int]) -> OpSpec:
    """Make the row of a border of other than a number; ``most``: how wide it may be around so many places."""
    return _row(
        f"pad_{mode}",
        base="pad",
        rank=38,
        draw=_bordered(most),
        calls={
            "torch": f"torch.nn.functional.pad(x, [n for p in zip(before[::-1], after[::-1]) for n in p], mode='{mode}')",
            "paddle": "paddle.nn.functional.pad(x, [n for p in zip(before[::-1], after[::-1]) for n in p], "
            f"mode='{mode}', data_format={{3: 'NCL', 4: 'NCHW', 5: 'NCDHW'}}[x.ndim])",
        },
        exact=True,
        corners=_widest(most),
    )


ENTRIES = rows(
    "resampling",
    _pad("reflect", lambda length: length - 1),
    _pad("replicate", lambda _: 3),
    _pad("circular", lambda length: length),
    _row(
        "interpolate_nearest",
        base="interpolate",
        rank=57,
        draw=_resized(2),
        calls=_interpolate("nearest", 2),
        exact=True,
    ),
    BILINEAR,
    replace(BILINEAR, name="interpolate_linear", draw=_resized(1, corners=FLAGS), calls=_interpolate("linear", 1, ALIGNED)),
    replace(BILINEAR, name="interpolate_trilinear", draw=_resized(3, corners=FLAGS), calls=_interpolate("trilinear", 3, ALIGNED)),
    replace(BILINEAR, name="interpolate_bicubic", calls=_interpolate("bicubic", 2, ALIGNED)),
    replace(
        BILINEAR,
        name="interpolate_area",
        draw=_resized(2),
        calls=_interpolate("area", 2),
        numbers=real_only(UNIMPLEMENTED),
    ),
    _row(
        "grid_sample_bilinear",
        base="grid_sample",
        rank=86,
        draw=_sampled,
        calls=both("torch.nn.functional.grid_sample(x, grid, align_corners=align_corners)"),
        exact=False,
    ),
    _row(
        "pixel_shuffle",
        rank=150,
        draw=_shuffled,
        calls=both("torch.nn.functional.pixel_shuffle(x, factor)"),
        exact=True,
    ),
    _row(
        "pixel_unshuffle",
        rank=153,
        draw=_unshuffled,
        calls=both("torch.nn.functional.pixel_unshuffle(x, factor)"),
        exact=True,
    ),
    _row(
        "affine_grid",
        rank=195,
        draw=_affine,
        calls=both("torch.nn.functional.affine_grid(theta, size, align_corners=align_corners)"),
        exact=False,
    ),
)
