"""Pooling and the moves of elements that go with it: one row per op."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.ops.corners import given, on
from conformance.ops.numbers import UNIMPLEMENTED, UNORDERED, UNREGISTERED, real_only
from conformance.ops.spec import PLAIN, Drawn, op, rows

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Draft, Draw, Sampler


def _pooled(rank: int) -> Draw:
    """Draw a tensor with so many axes of places, and a kernel that fits; a border is at most half as wide as the kernel."""

    def draw(s: Sampler) -> Arguments | None:
        x = s.take(lambda d: len(d.shape) == 2 + rank and 0 not in d.shape, shape=(1, 2, 4, 3, 2)[: 2 + rank])
        kernel = [s.source.integer(1, min(2 if s.exact else 3, n)) for n in x.shape[2:]]
        stride = [s.source.integer(1, 2) for _ in kernel]
        return [x], {"kernel": kernel, "stride": stride, "padding": [s.source.integer(0, k // 2) for k in kernel]}

    return draw


def _adaptive(rank: int) -> Draw:
    def draw(s: Sampler) -> Arguments | None:
        x = s.take(lambda d: len(d.shape) == 2 + rank and 0 not in d.shape, shape=(1, 2, 4, 3, 2)[: 2 + rank])
        return [x], {"size": [s.source.integer(1, 3) for _ in x.shape[2:]]}

    return draw


def _grouped(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: len(d.shape) == 4 and 0 not in d.shape and d.shape[1] > 1, shape=(1, 4, 2, 2))
    return [x], {"groups": s.source.choice([n for n in range(2, x.shape[1] + 1) if x.shape[1] % n == 0])}


def _whole(x: Draft) -> bool:
    return len(x.shape) == 4 and 0 not in x.shape


F = "torch.nn.functional"
P = "paddle.nn.functional"

AVG_POOL = op(
    "avg_pool2d",
    rank=61,
    draw=_pooled(2),
    torch=f"{F}.avg_pool2d(x, kernel, stride, padding)",
    paddle=f"{P}.avg_pool2d(x, kernel, stride, padding, exclusive=False)",
    exact=True,
    numbers=real_only(UNIMPLEMENTED),
    points=PLAIN,
    drawn=Drawn.NAMED,
)

MAX_POOL = op(
    "max_pool2d",
    rank=48,
    draw=_pooled(2),
    torch=f"{F}.max_pool2d(x, kernel, stride, padding)",
    paddle=f"{P}.max_pool2d(x, kernel, stride, padding)",
    exact=True,
    numbers=real_only(UNORDERED),
    corners={
        "global": on(lambda x: {"kernel": [*x.shape[2:]], "stride": [1, 1], "padding": [0, 0]} if _whole(x) else None),
    },
    points=PLAIN,
    drawn=Drawn.NAMED,
)

ADAPTIVE = op(
    "adaptive_avg_pool2d",
    rank=39,
    draw=_adaptive(2),
    torch=f"{F}.adaptive_avg_pool2d(x, size)",
    paddle=f"{P}.adaptive_avg_pool2d(x, size)",
    exact=False,
    numbers=real_only(UNIMPLEMENTED),
    corners={"global": given(_adaptive(2), size=[1, 1])},
    points=PLAIN,
    drawn=Drawn.NAMED,
)

ENTRIES = rows(
    "pooling",
    AVG_POOL,
    replace(
        AVG_POOL,
        name="avg_pool2d_exclusive",
        exact=False,
        calls={
            "torch": f"{F}.avg_pool2d(x, kernel, stride, padding, count_include_pad=False)",
            "paddle": f"{P}.avg_pool2d(x, kernel, stride, padding, exclusive=True)",
        },
    ),
    replace(
        AVG_POOL,
        name="avg_pool1d",
        base_op="avg_pool1d",
        rank=107,
        draw=_pooled(1),
        calls={
            "torch": f"{F}.avg_pool1d(x, kernel, stride, padding)",
            "paddle": f"{P}.avg_pool1d(x, kernel, stride, padding, exclusive=False)",
        },
    ),
    MAX_POOL,
    replace(
        MAX_POOL,
        name="max_pool1d",
        base_op="max_pool1d",
        rank=155,
        draw=_pooled(1),
        corners={},
        calls={"torch": f"{F}.max_pool1d(x, kernel, stride, padding)", "paddle": f"{P}.max_pool1d(x, kernel, stride, padding)"},
    ),
    ADAPTIVE,
    replace(
        ADAPTIVE,
        name="adaptive_avg_pool1d",
        base_op="adaptive_avg_pool1d",
        rank=100,
        draw=_adaptive(1),
        corners={},
        calls={"torch": f"{F}.adaptive_avg_pool1d(x, size[0])", "paddle": f"{P}.adaptive_avg_pool1d(x, size[0])"},
    ),
    replace(
        AVG_POOL,
        name="avg_pool3d",
        base_op="avg_pool3d",
        rank=136,
        draw=_pooled(3),
        calls={
            "torch": f"{F}.avg_pool3d(x, kernel, stride, padding)",
            "paddle": f"{P}.avg_pool3d(x, kernel, stride, padding, exclusive=False)",
        },
    ),
    replace(
        MAX_POOL,
        name="max_pool3d",
        base_op="max_pool3d",
        rank=127,
        draw=_pooled(3),
        corners={},
        calls={"torch": f"{F}.max_pool3d(x, kernel, stride, padding)", "paddle": f"{P}.max_pool3d(x, kernel, stride, padding)"},
    ),
    replace(
        ADAPTIVE,
        name="adaptive_avg_pool3d",
        base_op="adaptive_avg_pool3d",
        rank=116,
        draw=_adaptive(3),
        corners={"global": given(_adaptive(3), size=[1, 1, 1])},
        calls={"torch": f"{F}.adaptive_avg_pool3d(x, size)", "paddle": f"{P}.adaptive_avg_pool3d(x, size)"},
    ),
    *(
        replace(
            ADAPTIVE,
            name=f"adaptive_max_pool{axes}d",
            base_op=f"adaptive_max_pool{axes}d",
            rank=rank,
            draw=_adaptive(axes),
            exact=True,
            numbers=real_only(UNORDERED),
            corners={},
            calls={
                name: f"{f}.adaptive_max_pool{axes}d(x, size{'[0]' if axes == 1 else ''})" for name, f in (("torch", F), ("paddle", P))
            },
        )
        for axes, rank in ((2, 141), (1, 279), (3, 280))
    ),
    op(
        "channel_shuffle",
        rank=168,
        draw=_grouped,
        torch=f"{F}.channel_shuffle(x, groups)",
        paddle=f"{P}.channel_shuffle(x, groups)",
        exact=True,
        numbers=real_only(UNREGISTERED),
        points=PLAIN,
        drawn=Drawn.NAMED,
    ),
)
