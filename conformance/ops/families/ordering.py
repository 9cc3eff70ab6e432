"""Ops that order elements along an axis: one row per op. Elements differ, for which of equal ones is taken nobody promises."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from conformance.ops.calls import both
from conformance.ops.corners import axes, given, kept, on
from conformance.ops.draws import along_axis, axis_of, from_either_end, has_rows
from conformance.ops.numbers import UNORDERED, real_only
from conformance.ops.spec import PLAIN, Drawn, Points, op, rows
from reference_impl.tape.primitive import Domain

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Draft, Draw, Sampler

QUANTILES = (0.25, 0.5, 0.75, 0.0, 1.0)
APART = Points(width=3, distinct=True)
WITHOUT_NAN = Points(width=3, distinct=True, several_nan=True)

_along = along_axis(Domain.DISTINCT)
_axes = axes(nonempty=True, domain=Domain.DISTINCT)
_number = {"no axes": on(lambda x: {"axis": 0} if x.shape == () else None)}


def _sorted(s: Sampler) -> Arguments | None:
    drawn = _along(s)
    return None if drawn is None else (drawn[0], {**drawn[1], "descending": s.source.chance(0.5)})


def _middle(*, odd: bool = False) -> Draw:
    """Draw elements along an axis, of which one is in the middle if their number is to be ``odd``."""

    def fits(x: Draft) -> bool:
        return 0 not in x.shape and any(n % 2 or not odd for n in x.shape)

    def draw(s: Sampler) -> Arguments | None:
        x = s.take(fits, domain=Domain.DISTINCT, shape=(3, 2))
        fitting = [a for a, n in enumerate(x.shape) if n % 2 or not odd]
        axis = s.source.choice(fitting)
        return [x], {"axis": from_either_end(s, x, axis), "keepdims": s.source.chance(0.3)}

    return draw


def _middle_at(axis: int, *, odd: bool, keepdims: bool) -> Draw:
    def attrs(x: Draft) -> dict[str, Any] | None:
        fits = -len(x.shape) <= axis < len(x.shape) and 0 not in x.shape and (x.shape[axis] % 2 == 1 or not odd)
        return {"axis": axis, "keepdims": keepdims} if fits else None

    return on(attrs, Domain.DISTINCT)


def _middles(*, odd: bool = False) -> dict[str, Draw]:
    return {
        "first axis": _middle_at(0, odd=odd, keepdims=False),
        "last axis, kept": _middle_at(-1, odd=odd, keepdims=True),
        "axis -2": _middle_at(-2, odd=odd, keepdims=False),
    }


def _kth(s: Sampler) -> Arguments | None:
    drawn = _along(s)
    if drawn is None:
        return None
    (x,), attrs = drawn
    return [x], {"k": s.source.integer(1, x.shape[attrs["axis"]]), **attrs, "keepdims": s.source.chance(0.3)}


def _quantile(s: Sampler) -> Arguments | None:
    x = s.take(has_rows, domain=Domain.DISTINCT)
    q = s.source.choice(QUANTILES) if s.exact else s.source.choice((*QUANTILES, 0.3))
    return [x], {"q": q, "axis": axis_of(s, x), "keepdims": s.source.chance(0.3)}


def _selected(s: Sampler) -> Arguments | None:
    """Draw entries that are selected, of which one comes more often than any other."""
    drawn = _along(s)
    if drawn is None:
        return None
    (x,), attrs = drawn
    places = range(x.shape[attrs["axis"]])
    often, times = s.source.choice(places), s.source.integer(2, 3)
    others = [place for place in s.source.subset(places) if place != often]
    index = s.source.shuffled([often] * times + others * (times - 1))
    return [x], {"index": index, **attrs, "keepdims": s.source.chance(0.3)}


_kths = {f"{at}, smallest": given(draw, k=1) for at, draw in kept(_axes).items()}

_row = partial(op, exact=True, numbers=real_only(UNORDERED), points=APART, drawn=Drawn.NAMED)

QUANTILE = _row(
    "quantile",
    rank=303,
    draw=_quantile,
    calls=both("torch.quantile(x, q, axis, keepdims)"),
    corners={
        "median": given(kept(_axes)["last axis, kept"], q=0.5),
        "first axis": given(kept(_axes)["first axis"], q=0.25),
        "smallest": given(kept(_axes)["last axis, kept"], q=0.0),
        "largest": given(kept(_axes)["first axis"], q=1.0),
    },
)

ENTRIES = rows(
    "ordering",
    _row(
        "sort",
        rank=128,
        draw=_sorted,
        calls={"torch": "torch.sort(x, axis, descending)[0]", "paddle": "paddle.sort(x, axis, descending)"},
        corners={
            **{f"{at}, ascending": given(draw, descending=False) for at, draw in _axes.items()},
            "last axis, descending": given(_axes["last axis"], descending=True),
            "first axis, descending": given(_axes["first axis"], descending=True),
        },
    ),
    _row(
        "msort",
        rank=299,
        draw=on(lambda x: {} if has_rows(x) else None, Domain.DISTINCT),
        calls=both("torch.msort(x)"),
        points=PLAIN,
    ),
    _row("kthvalue", rank=300, draw=_kth, calls=both("torch.kthvalue(x, k, axis, keepdim=keepdims)[0]"), corners=_kths),
    _row("cummax", rank=177, draw=_along, calls=both("torch.cummax(x, axis)[0]"), corners={**_axes, **_number}),
    _row("cummin", rank=205, draw=_along, calls=both("torch.cummin(x, axis)[0]"), corners={**_axes, **_number}),
    _row(
        "mode_of_selected",
        base="mode",
        rank=301,
        draw=_selected,
        calls={
            "torch": "torch.mode(torch.index_select(x, axis, torch.tensor(index)), axis, keepdims)[0]",
            "paddle": "paddle.mode(paddle.index_select(x, paddle.to_tensor(index), axis), axis, keepdims)[0]",
        },
        points=PLAIN,
        corners={at: given(draw, index=[0, 0]) for at, draw in kept(_axes).items()},
    ),
    _row(
        "median",
        rank=197,
        draw=_middle(odd=True),
        calls={"torch": "torch.median(x, axis, keepdim=keepdims)[0]", "paddle": "paddle.median(x, axis, keepdims)"},
        corners=_middles(odd=True),
    ),
    _row(
        "median_min",
        base="median",
        rank=197,
        draw=_middle(),
        calls={
            "torch": "torch.median(x, axis, keepdim=keepdims)[0]",
            "paddle": "paddle.median(x, axis, keepdims, mode='min')[0]",
        },
        corners=_middles(),
    ),
    _row(
        "nanmedian",
        rank=302,
        draw=_middle(),
        calls={
            "torch": "torch.nanmedian(x, axis, keepdim=keepdims)[0]",
            "paddle": "paddle.nanmedian(x, axis, keepdims, mode='min')[0]",
        },
        corners=_middles(),
        points=WITHOUT_NAN,
    ),
    QUANTILE,
    replace(
        QUANTILE,
        name="nanquantile",
        base_op="nanquantile",
        rank=304,
        calls=both("torch.nanquantile(x, q, axis, keepdims)"),
        points=WITHOUT_NAN,
    ),
)
