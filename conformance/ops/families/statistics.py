"""Variances, sums without NaN, integrals of samples, running products and logarithms of running sums: one row per op."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.ops.corners import axes, axis_lists, on
from conformance.ops.draws import along_axis, reduction
from conformance.ops.in_place import LATER
from conformance.ops.numbers import UNORDERED, UNREGISTERED, real_only
from conformance.ops.spec import PLAIN, ROWS, Drawn, Growth, op, rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.ops.sampler import Arguments, Draft, Draw, Sampler

COMPLEX_LATER = real_only("what the frameworks make of complex ones has not been looked at yet")


def _reduced(x: Draft, axis: Any) -> int:
    return math.prod(x.shape if axis is None else [x.shape[a] for a in axis])


def _spread(draw: Draw) -> Draw:
    """Draw what is reduced so that there are two numbers or more, which differ: the spread of one is 0/0, of equal ones a kink."""

    def several(s: Sampler) -> Arguments | None:
        drawn = draw(s)
        if drawn is None or _reduced(drawn[0][0], drawn[1]["axis"]) < 2:
            return None
        return drawn[0], {**drawn[1], "unbiased": drawn[1].get("unbiased", s.source.chance(0.6))}

    return several


def _spreads() -> dict[str, Draw]:
    def at(choose: Any, *, unbiased: bool, keepdims: bool) -> Draw:
        def attrs(x: Draft) -> dict[str, Any] | None:
            if not x.shape or 0 in x.shape or _reduced(x, choose(len(x.shape))) < 2:
                return None
            return {"axis": choose(len(x.shape)), "unbiased": unbiased, "keepdims": keepdims}

        return on(attrs, "distinct")

    return {
        "all": at(lambda _: None, unbiased=True, keepdims=False),
        "all, biased, kept": at(lambda _: None, unbiased=False, keepdims=True),
        "last axis": at(lambda _: [-1], unbiased=True, keepdims=False),
        "first axis, biased, kept": at(lambda _: [0], unbiased=False, keepdims=True),
        "every axis by name": at(lambda n: list(range(n)), unbiased=True, keepdims=False),
    }


def _samples(*, places: bool = False) -> Draw:
    """Draw the values of a function along an axis, two or more, and their distance or their ``places``."""

    def draw(s: Sampler) -> Arguments | None:
        y = s.take(lambda d: any(n > 1 for n in d.shape) and 0 not in d.shape, shape=(3, 2))
        axis = s.source.choice([a for a, n in enumerate(y.shape) if n > 1])
        axis = axis - len(y.shape) if s.source.chance(0.3) else axis
        return (
            ([y, s.take_shaped(y.shape)], {"axis": axis}) if places else ([y], {"dx": s.source.choice([1.0, 0.5, 2.0]), "axis": axis})
        )

    return draw


def _samples_at(axis: int, dx: float) -> Draw:
    def attrs(x: Draft) -> dict[str, Any] | None:
        fits = -len(x.shape) <= axis < len(x.shape) and 0 not in x.shape and x.shape[axis] > 1
        return {"dx": dx, "axis": axis} if fits else None

    return on(attrs)


_distances: Mapping[str, Draw] = {"first axis": _samples_at(0, 1.0), "last axis": _samples_at(-1, 0.5), "axis -2": _samples_at(-2, 2.0)}
_several = _spread(reduction(one_axis=False, nonempty=True, domain="distinct"))

VAR = op(
    "var",
    rank=124,
    draw=_several,
    torch="torch.var(x, axis, unbiased=unbiased, keepdim=keepdims)",
    paddle="paddle.var(x, axis, unbiased, keepdims)",
    exact=False,
    numbers=COMPLEX_LATER,
    growth=Growth.COMPOUNDS,
    corners=_spreads(),
    points=PLAIN,
    drawn=Drawn.NAMED,
)

NANSUM = op(
    "nansum",
    rank=227,
    draw=reduction(one_axis=False),
    torch="torch.nansum(x, axis, keepdims)",
    paddle="paddle.nansum(x, axis, keepdim=keepdims)",
    exact=True,
    numbers=real_only(UNORDERED),
    corners=axis_lists(),
    points=ROWS,
    drawn=Drawn.NAMED,
)

TRAPEZOID = op(
    "trapezoid",
    rank=297,
    draw=_samples(),
    torch="torch.trapezoid(y, dx=dx, dim=axis)",
    paddle="paddle.trapezoid(y, dx=dx, axis=axis)",
    exact=True,
    numbers=COMPLEX_LATER,
    corners=_distances,
    points=PLAIN,
    drawn=Drawn.NAMED,
)
_running = {"torch": "torch.cumulative_trapezoid(y, dx=dx, dim=axis)", "paddle": "paddle.cumulative_trapezoid(y, dx=dx, axis=axis)"}
_at_places = {"torch": "torch.{}(y, x, dim=axis)", "paddle": "paddle.{}(y, x, axis=axis)"}
TRAPEZOID_X = replace(
    TRAPEZOID,
    name="trapezoid_x",
    draw=_samples(places=True),
    calls={f: call.format("trapezoid") for f, call in _at_places.items()},
    corners={},
    growth=Growth.COMPOUNDS,
)

ENTRIES = rows(
    "statistics",
    VAR,
    replace(
        VAR,
        name="std",
        base_op="std",
        rank=157,
        growth=Growth.BOUNDED,
        calls={
            "torch": "torch.std(x, axis, unbiased=unbiased, keepdim=keepdims)",
            "paddle": "paddle.std(x, axis, unbiased, keepdims)",
        },
    ),
    NANSUM,
    replace(
        NANSUM,
        name="nanmean",
        base_op="nanmean",
        rank=228,
        draw=reduction(one_axis=False, nonempty=True),
        calls={"torch": "torch.nanmean(x, axis, keepdims)", "paddle": "paddle.nanmean(x, axis, keepdim=keepdims)"},
        exact=False,
        corners=axis_lists(nonempty=True),
    ),
    TRAPEZOID,
    TRAPEZOID_X,
    replace(TRAPEZOID, name="cumulative_trapezoid", base_op="cumulative_trapezoid", rank=298, calls=_running),
    replace(
        TRAPEZOID_X,
        name="cumulative_trapezoid_x",
        base_op="cumulative_trapezoid",
        rank=298,
        calls={f: call.format("cumulative_trapezoid") for f, call in _at_places.items()},
    ),
    op(
        "cumprod",
        rank=171,
        draw=along_axis("nonzero"),
        torch="torch.cumprod(x, axis)",
        paddle="paddle.cumprod(x, axis)",
        exact=False,
        numbers=real_only("where a running product overflows, nobody promises which of its parts is NaN"),
        growth=Growth.COMPOUNDS,
        corners=axes(nonempty=True, domain="nonzero"),
        points=PLAIN,
        in_place=LATER,
        drawn=Drawn.NAMED,
    ),
    op(
        "logcumsumexp",
        rank=296,
        draw=along_axis(),
        torch="torch.logcumsumexp(x, axis)",
        paddle="paddle.logcumsumexp(x, axis)",
        exact=False,
        numbers=real_only(UNREGISTERED),
        corners=axes(nonempty=True),
        points=PLAIN,
        drawn=Drawn.NAMED,
    ),
)
