"""Images that are read between their places, and moves between places and channels: one row per op."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.ops.numbers import UNIMPLEMENTED, UNREGISTERED, real_only
from conformance.ops.spec import PLAIN, Drawn, op, rows

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Draft, Draw, Sampler

SHAPE = (1, 2, 3, 4, 2)


def _has_places(rank: int, x: Draft) -> bool:
    return len(x.shape) == 2 + rank and 0 not in x.shape


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


F = "torch.nn.functional"
P = "paddle.nn.functional"
FORMATS = {1: ", data_format='NCW'", 2: "", 3: ", data_format='NCDHW'"}


def _resize(mode: str, rank: int, rest: str = "") -> dict[str, Any]:
    call = f"interpolate(x, size=size, mode='{mode}'{rest}"
    return {"torch": f"{F}.{call})", "paddle": f"{P}.{call}{FORMATS[rank]})"}


ALIGNED = ", align_corners=align_corners"
BOTH = (False, True)
REAL: dict[str, Any] = {"numbers": real_only(UNREGISTERED), "points": PLAIN, "drawn": Drawn.NAMED}

BILINEAR = op(
    "interpolate_bilinear",
    base="interpolate",
    rank=57,
    draw=_resized(2, corners=BOTH),
    exact=False,
    **_resize("bilinear", 2, ALIGNED),
    **REAL,
)
GRID = op(
    "grid_sample_bilinear",
    base="grid_sample",
    rank=86,
    draw=_sampled,
    exact=False,
    torch=f"{F}.grid_sample(x, grid, align_corners=align_corners)",
    paddle=f"{P}.grid_sample(x, grid, align_corners=align_corners)",
    **REAL,
)

ENTRIES = rows(
    "resampling",
    op("interpolate_nearest", base="interpolate", rank=57, draw=_resized(2), exact=True, **_resize("nearest", 2), **REAL),
    BILINEAR,
    replace(BILINEAR, name="interpolate_linear", draw=_resized(1, corners=BOTH), calls=_resize("linear", 1, ALIGNED)),
    replace(BILINEAR, name="interpolate_trilinear", draw=_resized(3, corners=BOTH), calls=_resize("trilinear", 3, ALIGNED)),
    replace(BILINEAR, name="interpolate_bicubic", calls=_resize("bicubic", 2, ALIGNED)),
    replace(BILINEAR, name="interpolate_area", draw=_resized(2), calls=_resize("area", 2), numbers=real_only(UNIMPLEMENTED)),
    GRID,
    op(
        "pixel_shuffle",
        rank=150,
        draw=_shuffled,
        exact=True,
        torch=f"{F}.pixel_shuffle(x, factor)",
        paddle=f"{P}.pixel_shuffle(x, factor)",
        **REAL,
    ),
    op(
        "pixel_unshuffle",
        rank=153,
        draw=_unshuffled,
        exact=True,
        torch=f"{F}.pixel_unshuffle(x, factor)",
        paddle=f"{P}.pixel_unshuffle(x, factor)",
        **REAL,
    ),
    op(
        "affine_grid",
        rank=195,
        draw=_affine,
        exact=False,
        torch=f"{F}.affine_grid(theta, size, align_corners=align_corners)",
        paddle=f"{P}.affine_grid(theta, size, align_corners=align_corners)",
        **REAL,
    ),
)
