"""Variances, sums without NaN, integrals of samples, running products and logarithms of running sums: one row per op."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.ops.calls import both
from conformance.ops.corners import axes, axis_lists, on, several
from conformance.ops.draws import along_axis, count_reduced, from_either_end, has_elements, has_rows, reduction
from conformance.ops.in_place import LATER
from conformance.ops.numbers import UNEXAMINED, UNORDERED, UNREGISTERED, real_only
from conformance.ops.spec import PLAIN, ROWS, Drawn, Growth, OpSpec, op, rows
from reference_impl.tape.primitive import Domain

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Draft, Draw, Sampler

_any_axes = reduction(one_axis=False, nonempty=True, domain=Domain.DISTINCT)


def _spread(s: Sampler) -> Arguments | None:
    """Draw what is reduced so that there are two numbers or more, which differ: the spread of one is 0/0, of equal ones a kink."""
    drawn = _any_axes(s)
    if drawn is None or count_reduced(drawn[0][0], drawn[1]["axis"]) < 2:
        return None
    return drawn[0], {**drawn[1], "unbiased": s.source.chance(0.6)}


def _spreads() -> dict[str, Draw]:
    def at(choose: Any, *, unbiased: bool, keepdims: bool) -> Draw:
        def attrs(x: Draft) -> dict[str, Any] | None:
            if not has_rows(x) or count_reduced(x, choose(len(x.shape))) < 2:
                return None
            return {"axis": choose(len(x.shape)), "unbiased": unbiased, "keepdims": keepdims}

        return on(attrs, Domain.DISTINCT)

    return {
        "all": at(lambda _: None, unbiased=True, keepdims=False),
        "all, biased, kept": at(lambda _: None, unbiased=False, keepdims=True),
        "last axis": at(lambda _: [-1], unbiased=True, keepdims=False),
        "first axis, biased, kept": at(lambda _: [0], unbiased=False, keepdims=True),
        "every axis by name": at(lambda n: list(range(n)), unbiased=True, keepdims=False),
    }


def _powers(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: len(d.shape) == 1 and has_elements(d), domain=Domain.NONZERO, shape=(3,))
    return [x], {"count": s.source.choice((3, 2, 4))}


def _samples(s: Sampler) -> tuple[Draft, int]:
    """Draw the values of a function along an axis, two or more."""
    y = s.take(lambda d: any(n > 1 for n in d.shape) and has_elements(d), shape=(3, 2))
    return y, from_either_end(s, y, s.source.choice([a for a, n in enumerate(y.shape) if n > 1]))


def _even_samples(s: Sampler) -> Arguments | None:
    y, axis = _samples(s)
    return [y], {"dx": s.source.choice([1.0, 0.5, 2.0]), "axis": axis}


def _placed_samples(s: Sampler) -> Arguments | None:
    y, axis = _samples(s)
    return [y, s.take_shaped(y.shape)], {"axis": axis}


def _even_samples_at(axis: int, dx: float) -> Draw:
    def attrs(x: Draft) -> dict[str, Any] | None:
        fits = -len(x.shape) <= axis < len(x.shape) and 0 not in x.shape and x.shape[axis] > 1
        return {"dx": dx, "axis": axis} if fits else None

    return on(attrs)


_distances = {"first axis": _even_samples_at(0, 1.0), "last axis": _even_samples_at(-1, 0.5), "axis -2": _even_samples_at(-2, 2.0)}

VAR = op(
    "var",
    rank=124,
    draw=_spread,
    calls={"torch": "torch.var(x, axis, unbiased=unbiased, keepdim=keepdims)", "paddle": "paddle.var(x, axis, unbiased, keepdims)"},
    exact=False,
    numbers=real_only(UNEXAMINED),
    growth=Growth.COMPOUNDS,
    corners=_spreads(),
    points=ROWS,
    drawn=Drawn.NAMED,
)

NANSUM = op(
    "nansum",
    rank=227,
    draw=reduction(one_axis=False),
    calls={"torch": "torch.nansum(x, axis, keepdims)", "paddle": "paddle.nansum(x, axis, keepdim=keepdims)"},
    exact=True,
    numbers=real_only(UNORDERED),
    corners=axis_lists(),
    points=ROWS,
    drawn=Drawn.NAMED,
)

TRAPEZOID = op(
    "trapezoid",
    rank=297,
    draw=_even_samples,
    calls={"torch": "torch.trapezoid(y, dx=dx, dim=axis)", "paddle": "paddle.trapezoid(y, dx=dx, axis=axis)"},
    exact=True,
    numbers=real_only(UNEXAMINED),
    corners=_distances,
    points=PLAIN,
    drawn=Drawn.NAMED,
)
TRAPEZOID_RUNNING = replace(
    TRAPEZOID,
    name="cumulative_trapezoid",
    base_op="cumulative_trapezoid",
    rank=298,
    calls={
        "torch": "torch.cumulative_trapezoid(y, dx=dx, dim=axis)",
        "paddle": "paddle.cumulative_trapezoid(y, dx=dx, axis=axis)",
    },
)


def _of_placed(row: OpSpec) -> OpSpec:
    """Make the row of the same integral over samples that say where they lie."""
    return replace(
        row,
        name=f"{row.name}_x",
        draw=_placed_samples,
        calls={"torch": f"torch.{row.name}(y, x, dim=axis)", "paddle": f"paddle.{row.name}(y, x, axis=axis)"},
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
        calls={"torch": "torch.std(x, axis, unbiased=unbiased, keepdim=keepdims)", "paddle": "paddle.std(x, axis, unbiased, keepdims)"},
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
    _of_placed(TRAPEZOID),
    TRAPEZOID_RUNNING,
    _of_placed(TRAPEZOID_RUNNING),
    op(
        "cumprod",
        rank=171,
        draw=along_axis(Domain.NONZERO),
        calls=both("torch.cumprod(x, axis)"),
        exact=False,
        numbers=real_only("where a running product overflows, nobody promises which of its parts is NaN"),
        growth=Growth.COMPOUNDS,
        corners=axes(nonempty=True, domain=Domain.NONZERO),
        points=ROWS,
        in_place=LATER,
        drawn=Drawn.NAMED,
    ),
    op(
        "vander",
        rank=270,
        draw=_powers,
        calls={"torch": "torch.linalg.vander(x, N=count)", "paddle": "paddle.vander(x, count, increasing=True)"},
        exact=False,
        numbers=real_only(UNEXAMINED),
        growth=Growth.UNBOUNDED,
        corners=several("count", 2, 3, 5, draw=_powers),
        points=PLAIN,
        drawn=Drawn.NAMED,
    ),
    op(
        "logcumsumexp",
        rank=296,
        draw=along_axis(),
        calls=both("torch.logcumsumexp(x, axis)"),
        exact=False,
        numbers=real_only(UNREGISTERED),
        corners=axes(nonempty=True),
        points=ROWS,
        drawn=Drawn.NAMED,
    ),
)
