"""Ops of complex numbers: one row per op.

Angles and absolute values are drawn away from 0, and angles in the right half of the plane, away from the cut along the negative axis.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.ops.calls import both
from conformance.ops.draws import binary, unary
from conformance.ops.in_place import ONE_ALONE
from conformance.ops.numbers import COMPLEX, PARTS, real_only
from conformance.ops.spec import ELEMENTS, PLAIN, op, rows
from reference_impl.tape.primitive import Domain

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Sampler


def _pairs(s: Sampler) -> Arguments | None:
    return [s.take(lambda d: len(d.shape) >= 1 and d.shape[-1] == 2, shape=(3, 2))], {}


def _polar(s: Sampler) -> Arguments | None:
    size = s.take(domain=None if s.source.chance(0.1) else Domain.POSITIVE)
    return [size, s.take_shaped(size.shape)], {}


ENTRIES = rows(
    "complex",
    op("real", rank=139, draw=unary(), calls=both("torch.real(x)"), exact=True, numbers=COMPLEX, points=ELEMENTS),
    op("imag", rank=343, draw=unary(), calls=both("torch.imag(x)"), exact=True, numbers=COMPLEX, points=ELEMENTS),
    op(
        "conj",
        rank=179,
        draw=unary(),
        calls=both("torch.conj(x)"),
        exact=True,
        numbers=COMPLEX,
        points=ELEMENTS,
        in_place=ONE_ALONE,
    ),
    op(
        "complex",
        rank=191,
        draw=binary(),
        calls=both("torch.complex(re, im)"),
        exact=True,
        numbers=real_only(PARTS),
        points=PLAIN,
    ),
    op(
        "as_real",
        base="view_as_real",
        rank=113,
        draw=unary(),
        calls={"torch": "torch.view_as_real(x.resolve_conj())", "paddle": "paddle.as_real(x)"},
        exact=True,
        numbers=COMPLEX,
        points=ELEMENTS,
    ),
    op(
        "as_complex",
        base="view_as_complex",
        rank=117,
        draw=_pairs,
        calls={"torch": "torch.view_as_complex(x.contiguous())", "paddle": "paddle.as_complex(x.contiguous())"},
        exact=True,
        numbers=real_only(PARTS),
        points=PLAIN,
    ),
    op(
        "angle",
        rank=344,
        draw=unary(Domain.POSITIVE),
        calls=both("torch.angle(x)"),
        exact=False,
        numbers=COMPLEX,
        points=ELEMENTS,
    ),
    op(
        "sgn",
        rank=216,
        draw=unary(Domain.NONZERO),
        calls=both("torch.sgn(x)"),
        exact=False,
        numbers=COMPLEX,
        points=ELEMENTS,
        in_place=ONE_ALONE,
    ),
    op(
        "polar",
        rank=137,
        draw=_polar,
        calls=both("torch.polar(size, turn)"),
        exact=False,
        numbers=real_only(PARTS),
        points=PLAIN,
    ),
)
