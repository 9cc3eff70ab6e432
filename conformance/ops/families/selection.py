"""Ops that select: one row per op."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.ops.calls import both
from conformance.ops.corners import axes, count_of, given, on
from conformance.ops.draws import axis_of, binary, has_elements, has_rows, mask_for, unary
from conformance.ops.in_place import LATER, ONE_ALONE, InPlaceForm
from conformance.ops.numbers import BOTH, MIXED, UNORDERED, real_only
from conformance.ops.spec import ELEMENTS, Drawn, Points, op, rows
from reference_impl.tape.primitive import Domain

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Draft, Draw, Sampler


OTHER_MASK = 0.25
"""A mask of another shape than the first operand: each of `MASKS` is in one script of sixteen that have such an op."""
RANK = 3
"""Operands of so many axes or more have no mask with one more: a result of many axes fits few other ops."""


def _clamp(s: Sampler) -> Arguments | None:
    low, high = sorted([s.number(), s.number()])
    return [s.take()], s.source.choice([{"low": low, "high": high}, {"low": low, "high": None}, {"low": None, "high": high}])


def _bound_tensor(s: Sampler) -> Arguments | None:
    return [s.take(), s.take_shaped(())], {}


MASKS = ("shorter", "ones", "longer", "wider")
"""Masks of another shape: broadcast to the operands in two ways, the operands to it, and axes of one element to those of the mask."""


def _beside(s: Sampler, shape: tuple[int, ...], form: str) -> tuple[int, ...] | None:
    """Return the shape of a mask that broadcasts with another shape in some way; ``None`` if there is none.

    A mask is nested lists, which do not say what axes come behind one without elements.
    """
    if 0 in shape:
        return None
    match form:
        case "shorter" if shape:
            return shape[s.source.integer(1, len(shape)) :]
        case "ones" if max(shape, default=1) > 1:
            return tuple(1 if n == max(shape) else n for n in shape)
        case "longer" if len(shape) < RANK:
            return (s.source.integer(2, 3), *shape)
        case "wider" if 1 in shape:
            return tuple(s.source.integer(2, 3) if n == 1 else n for n in shape)
        case _:
            return None


def _mask(s: Sampler, *operands: Draft) -> Any:
    """Draw a mask for operands that broadcast, of the shape of the first one or, now and then, of another."""
    form = s.source.choice(MASKS) if s.source.chance(OTHER_MASK) else ""
    return mask_for(s, _beside(s, np.broadcast_shapes(*(x.shape for x in operands)), form) or operands[0].shape)


def _masks(draw: Draw) -> dict[str, Draw]:
    """Return one corner for each of `MASKS`."""

    def corner(s: Sampler, form: str) -> Arguments | None:
        drawn = draw(s)
        shape = drawn and _beside(s, np.broadcast_shapes(*(x.shape for x in drawn[0])), form)
        return None if drawn is None or shape is None else (drawn[0], {**drawn[1], "mask": mask_for(s, shape)})

    return {f"{form} mask": partial(corner, form=form) for form in MASKS}


def _masked(s: Sampler) -> Arguments | None:
    x = s.take(has_elements)
    return [x], {"mask": _mask(s, x), "value": s.number()}


def _masked_tensor(s: Sampler) -> Arguments | None:
    x = s.take(has_elements)
    return [x, s.take_shaped(())], {"mask": _mask(s, x)}


def _where(s: Sampler) -> Arguments | None:
    x = s.take(has_elements)
    y = s.partner(x)
    return [x, y], {"mask": _mask(s, x, y)}


def _topk(s: Sampler) -> Arguments | None:
    x = s.take(has_rows, domain=Domain.DISTINCT)
    axis = axis_of(s, x)
    return [x], {"k": s.source.integer(1, x.shape[axis]), "axis": axis}


def _mask_and_value(s: Sampler, target: Draft) -> Arguments:
    return [], {"mask": mask_for(s, target.shape), "value": s.number()}


_row = partial(op, exact=True, numbers=real_only(UNORDERED), points=ELEMENTS)

MASKED_FILL = _row(
    "masked_fill",
    rank=49,
    draw=_masked,
    calls=both("torch.masked_fill(x, torch.tensor(mask), value)"),
    corners=_masks(_masked),
    numbers=BOTH,
    in_place=InPlaceForm(
        both("x.masked_fill_(torch.tensor(mask), value)"),
        draw=_mask_and_value,
        turn=1,
    ),
)

ENTRIES = rows(
    "selection",
    _row("maximum", rank=110, draw=binary(), calls=both("torch.maximum(x, y)")),
    _row("minimum", rank=112, draw=binary(), calls=both("torch.minimum(x, y)")),
    _row("fmax", rank=220, draw=binary(), calls=both("torch.fmax(x, y)")),
    _row("fmin", rank=221, draw=binary(), calls=both("torch.fmin(x, y)")),
    _row(
        "clamp",
        rank=54,
        draw=_clamp,
        calls={"torch": "torch.clamp(x, low, high)", "paddle": "paddle.clip(x, low, high)"},
        corners={
            "wide": given(unary(), low=-5.0, high=6.0),
            "below alone": given(unary(), low=-0.5, high=None),
            "above alone": given(unary(), low=None, high=0.5),
        },
        in_place=InPlaceForm(
            {"torch": "x.clamp_(low, high)", "paddle": "x.clip_(low, high)"},
            draw=lambda _s, _x: ([], {"low": -0.5, "high": 1.25}),
            turn=1,
        ),
    ),
    *(
        _row(
            f"clamp_{end}_tensor",
            base="clamp",
            rank=54,
            draw=_bound_tensor,
            calls={"torch": f"torch.clamp(x, {bound}=y)", "paddle": f"paddle.clip(x, {bound}=y)"},
            points=Points(first_alone=True),
            drawn=Drawn.NAMED,
        )
        for end, bound in (("low", "min"), ("high", "max"))
    ),
    _row(
        "where",
        rank=53,
        draw=_where,
        calls=both("torch.where(torch.tensor(mask), x, y)"),
        corners=_masks(_where),
        numbers=MIXED,
        in_place=ONE_ALONE,
    ),
    MASKED_FILL,
    replace(
        MASKED_FILL,
        name="masked_fill_tensor",
        draw=_masked_tensor,
        corners=_masks(_masked_tensor),
        points=Points(first_alone=True),
        in_place=LATER,
    ),
    _row(
        "topk",
        rank=46,
        draw=_topk,
        calls=both("torch.topk(x, k, axis)[0]"),
        corners={
            "all": on(lambda x: {"k": x.shape[-1], "axis": -1} if count_of(x) and x.shape else None, Domain.DISTINCT),
            "largest": given(axes(nonempty=True, domain=Domain.DISTINCT)["first axis"], k=1),
        },
        points=Points(width=3, distinct=True),
    ),
)
