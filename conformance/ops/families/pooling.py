"""Pooling and the moves of elements that go with it: one row per op."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from conformance.ops.calls import both
from conformance.ops.corners import given, on
from conformance.ops.draws import has_elements
from conformance.ops.numbers import UNIMPLEMENTED, UNORDERED, UNREGISTERED, real_only
from conformance.ops.spec import PLAIN, Drawn, Growth, OpSpec, op, rows
from reference_impl.primitives.pooling import unpooled
from reference_impl.tape.primitive import Domain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.ops.sampler import Arguments, Draft, Draw, Sampler


def _taken(s: Sampler, axes: int) -> Draft:
    """Take a tensor with so many axes of places."""
    return s.take(lambda d: len(d.shape) == 2 + axes and has_elements(d), shape=(1, 2, 4, 3, 2)[: 2 + axes])


def _pooled(axes: int) -> Draw:
    """Draw a tensor with so many axes of places, and a kernel that fits; a border is at most half as wide as the kernel."""

    def draw(s: Sampler) -> Arguments | None:
        x = _taken(s, axes)
        kernel = [s.source.integer(1, min(2 if s.exact else 3, n)) for n in x.shape[2:]]
        stride = [s.source.integer(1, 2) for _ in kernel]
        return [x], {"kernel": kernel, "stride": stride, "padding": [s.source.integer(0, k // 2) for k in kernel]}

    return draw


def _begins_within(n: int, kernel: int, stride: int, padding: int) -> bool:
    """Whether the last window that is rounded up begins before the end of the places: Paddle keeps those that do not."""
    last = -(-(n + 2 * padding - kernel) // stride)
    return last * stride < n + padding


def _rounded_up(axes: int) -> Draw:
    """Draw a tensor, and a kernel whose windows may end behind the border; PyTorch wants one that fits in three dimensions."""

    def draw(s: Sampler) -> Arguments | None:
        x = _taken(s, axes)
        fitting = [
            [(k, by, p) for k in (1, 2, 3) for by in (1, 2, 3) for p in range(k // 2 + 1) if k <= n and _begins_within(n, k, by, p)]
            for n in x.shape[2:]
        ]
        kernel, stride, padding = (list(along) for along in zip(*map(s.source.choice, fitting), strict=True))
        return [x], {"kernel": kernel, "stride": stride, "padding": padding}

    return draw


def _adaptive(axes: int) -> Draw:
    def draw(s: Sampler) -> Arguments | None:
        x = _taken(s, axes)
        return [x], {"size": [s.source.integer(1, 3) for _ in x.shape[2:]]}

    return draw


def _unpooled(axes: int, *, distinct: bool = True) -> Draw:
    """Draw a tensor, and for each plane an index of what will be its places; ``distinct``: no place comes twice."""

    def draw(s: Sampler) -> Arguments | None:
        x = _taken(s, axes)
        kernel = [s.source.integer(1, 3) for _ in range(axes)]
        attrs = {"kernel": kernel, "stride": [s.source.integer(1, 2) for _ in kernel]}
        attrs["padding"] = [s.source.integer(0, (k - 1) // 2) for k in kernel]
        places = range(math.prod(unpooled(x.shape[2:], **attrs)))
        count = math.prod(x.shape[2:])
        lists = [
            s.source.shuffled(places)[:count] if distinct else [s.source.choice(places) for _ in range(count)]
            for _ in range(math.prod(x.shape[:2]))
        ]
        return [x], {"index": np.reshape(lists, x.shape).tolist(), **attrs}

    return draw


def _fractional(s: Sampler) -> Arguments | None:
    """Draw an image and two regions or more along each axis; by these samples none begins a rounding away from another place."""
    x = s.take(lambda d: _is_image(d) and min(d.shape[2:]) > 1, shape=(1, 2, 4, 3))
    kernel = [s.source.integer(1, min(3, n - 1)) for n in x.shape[2:]]
    size = [s.source.integer(2, min(5, n - k + 1)) for n, k in zip(x.shape[2:], kernel, strict=True)]
    return [x], {"kernel": kernel, "size": size, "sample": s.source.choice([0.37, 0.61, 0.07])}


def _fractional_3d(s: Sampler) -> Arguments | None:
    """Draw the same in three dimensions; PyTorch wants one place more there than the regions need."""
    x = s.take(lambda d: len(d.shape) == 5 and has_elements(d) and min(d.shape[2:]) > 2, shape=(1, 2, 3, 4, 3))
    kernel = [s.source.integer(1, min(2, n - 2)) for n in x.shape[2:]]
    size = [s.source.integer(2, min(3, n - k)) for n, k in zip(x.shape[2:], kernel, strict=True)]
    return [x], {"kernel": kernel, "size": size, "sample": s.source.choice([0.37, 0.61, 0.07])}


def _powers(axes: int, domain: Domain | None = Domain.POSITIVE) -> Draw:
    """Draw a tensor whose windows have a root, and which; numbers of both signs have one of an even order."""

    def draw(s: Sampler) -> Arguments | None:
        x = s.take(lambda d: len(d.shape) == 2 + axes and has_elements(d), domain=domain, shape=(1, 2, 4, 3)[: 2 + axes])
        kernel = [s.source.integer(1, min(3, n)) for n in x.shape[2:]]
        p = s.source.choice((2.0, 3.0, 1.0, 1.5) if domain == Domain.POSITIVE else (2.0, 4.0))
        return [x], {"p": p, "kernel": kernel, "stride": [s.source.integer(1, 2) for _ in kernel]}

    return draw


def _powers_rounded_up(axes: int, domain: Domain | None = Domain.POSITIVE) -> Draw:
    """Draw the same with windows that may end behind the last place."""

    def draw(s: Sampler) -> Arguments | None:
        drawn = _powers(axes, domain)(s)
        if drawn is None:
            return None
        (x,), attrs = drawn
        stride = [
            s.source.choice([by for by in (1, 2, 3) if _begins_within(n, k, by, 0)])
            for n, k in zip(x.shape[2:], attrs["kernel"], strict=True)
        ]
        return [x], {**attrs, "stride": stride}

    return draw


def _grouped(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: _is_image(d) and d.shape[1] > 1, shape=(1, 4, 2, 2))
    return [x], {"groups": s.source.choice([n for n in range(2, x.shape[1] + 1) if x.shape[1] % n == 0])}


def _is_image(x: Draft) -> bool:
    return len(x.shape) == 4 and has_elements(x)


def _global(axes: int) -> dict[str, Draw]:
    return {"global": given(_adaptive(axes), size=[1] * axes)}


_row = partial(op, points=PLAIN, drawn=Drawn.NAMED)


def _avg_pool(rank: int, axes: int) -> OpSpec:
    pool = f"nn.functional.avg_pool{axes}d(x, kernel, stride, padding"
    return _row(
        f"avg_pool{axes}d",
        rank=rank,
        draw=_pooled(axes),
        calls={"torch": f"torch.{pool})", "paddle": f"paddle.{pool}, exclusive=False)"},
        exact=True,
        numbers=real_only(UNIMPLEMENTED),
    )


def _avg_pool_ceil(rank: int, axes: int) -> OpSpec:
    pool = f"nn.functional.avg_pool{axes}d(x, kernel, stride, padding, ceil_mode=True"
    return _row(
        f"avg_pool{axes}d_ceil",
        rank=rank,
        draw=_rounded_up(axes),
        calls={"torch": f"torch.{pool})", "paddle": f"paddle.{pool}, exclusive=False)"},
        exact=False,
        numbers=real_only(UNIMPLEMENTED),
    )


def _max_pool(rank: int, axes: int, corners: Mapping[str, Draw] | None = None) -> OpSpec:
    return _row(
        f"max_pool{axes}d",
        rank=rank,
        draw=_pooled(axes),
        calls=both(f"torch.nn.functional.max_pool{axes}d(x, kernel, stride, padding)"),
        exact=True,
        numbers=real_only(UNORDERED),
        corners=corners,
    )


def _adaptive_avg_pool(rank: int, axes: int, corners: Mapping[str, Draw] | None = None) -> OpSpec:
    return _row(
        f"adaptive_avg_pool{axes}d",
        rank=rank,
        draw=_adaptive(axes),
        calls=both(f"torch.nn.functional.adaptive_avg_pool{axes}d(x, {_size(axes)})"),
        exact=False,
        numbers=real_only(UNIMPLEMENTED),
        corners=corners,
    )


def _adaptive_max_pool(rank: int, axes: int) -> OpSpec:
    return _row(
        f"adaptive_max_pool{axes}d",
        rank=rank,
        draw=_adaptive(axes),
        calls=both(f"torch.nn.functional.adaptive_max_pool{axes}d(x, {_size(axes)})"),
        exact=True,
        numbers=real_only(UNORDERED),
    )


def _max_unpool(rank: int, axes: int) -> OpSpec:
    unpool = f"nn.functional.max_unpool{axes}d(x, "
    sizes = ", kernel, stride, padding)"
    return _row(
        f"max_unpool{axes}d",
        rank=rank,
        draw=_unpooled(axes),
        calls=both(f"torch.{unpool}torch.tensor(index){sizes}"),
        exact=True,
        numbers=real_only(UNIMPLEMENTED),
        corners={"repeated": _unpooled(axes, distinct=False)},
    )


def _lp_pool(rank: int, axes: int) -> OpSpec:
    pool = f"nn.functional.lp_pool{axes}d(x, p, "
    sizes = ("kernel[0], stride[0]" if axes == 1 else "kernel, stride") + ")"
    return _row(
        f"lp_pool{axes}d",
        rank=rank,
        draw=_powers(axes),
        calls=both(f"torch.{pool}{sizes}"),
        exact=False,
        numbers=real_only(UNIMPLEMENTED),
        growth=Growth.UNBOUNDED,
        corners={"of any sign": _powers(axes, Domain.NONZERO)},
    )


def _lp_pool_ceil(rank: int, axes: int) -> OpSpec:
    pool = f"nn.functional.lp_pool{axes}d(x, p, "
    sizes = ("kernel[0], stride[0]" if axes == 1 else "kernel, stride") + ", ceil_mode=True)"
    return _row(
        f"lp_pool{axes}d_ceil",
        rank=rank,
        draw=_powers_rounded_up(axes),
        calls=both(f"torch.{pool}{sizes}"),
        exact=False,
        numbers=real_only(UNIMPLEMENTED),
        growth=Growth.UNBOUNDED,
        corners={"of any sign": _powers_rounded_up(axes, Domain.NONZERO)},
    )


def _size(axes: int) -> str:
    return "size[0]" if axes == 1 else "size"


AVG_POOL = _avg_pool(61, 2)

ENTRIES = rows(
    "pooling",
    AVG_POOL,
    replace(
        AVG_POOL,
        name="avg_pool2d_exclusive",
        exact=False,
        calls={
            "torch": "torch.nn.functional.avg_pool2d(x, kernel, stride, padding, count_include_pad=False)",
            "paddle": "paddle.nn.functional.avg_pool2d(x, kernel, stride, padding, exclusive=True)",
        },
    ),
    _avg_pool(107, 1),
    _max_pool(
        48,
        2,
        corners={"global": on(lambda x: {"kernel": [*x.shape[2:]], "stride": [1, 1], "padding": [0, 0]} if _is_image(x) else None)},
    ),
    _max_pool(155, 1),
    _adaptive_avg_pool(39, 2, corners=_global(2)),
    _adaptive_avg_pool(100, 1),
    _avg_pool(136, 3),
    _max_pool(127, 3),
    _adaptive_avg_pool(116, 3, corners=_global(3)),
    _adaptive_max_pool(141, 2),
    _adaptive_max_pool(279, 1),
    _adaptive_max_pool(280, 3),
    _max_unpool(283, 1),
    _max_unpool(284, 2),
    _max_unpool(285, 3),
    _row(
        "fractional_max_pool2d",
        rank=286,
        draw=_fractional,
        calls={
            "torch": "torch.nn.functional.fractional_max_pool2d(x, kernel, size, "
            "_random_samples=torch.full([*x.shape[:2], 2], sample, dtype=x.dtype))",
            "paddle": "paddle.nn.functional.fractional_max_pool2d(x, size, kernel, sample)",
        },
        exact=True,
        numbers=real_only(UNORDERED),
    ),
    _row(
        "fractional_max_pool3d",
        rank=291,
        draw=_fractional_3d,
        calls={
            "torch": "torch.nn.functional.fractional_max_pool3d(x, kernel, size, "
            "_random_samples=torch.full([*x.shape[:2], 3], sample, dtype=x.dtype))",
            "paddle": "paddle.nn.functional.fractional_max_pool3d(x, size, kernel, sample)",
        },
        exact=True,
        numbers=real_only(UNORDERED),
    ),
    _lp_pool(281, 1),
    _lp_pool(282, 2),
    _avg_pool_ceil(61, 2),
    _avg_pool_ceil(107, 1),
    _avg_pool_ceil(136, 3),
    _lp_pool_ceil(281, 1),
    _lp_pool_ceil(282, 2),
    _row(
        "channel_shuffle",
        rank=168,
        draw=_grouped,
        calls=both("torch.nn.functional.channel_shuffle(x, groups)"),
        exact=True,
        numbers=real_only(UNREGISTERED),
    ),
)
