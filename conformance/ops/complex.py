"""Ops of complex numbers: how to draw their arguments, and their calls in each framework.

Angles and absolute values are drawn away from 0, and angles in the right half of the plane, away from the cut along the negative axis.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.ops.draws import binary, unary
from conformance.ops.spec import rows

if TYPE_CHECKING:
    from conformance.generate.sketch import Sketch
    from conformance.ops.draws import Drawn


def _pairs(s: Sketch) -> Drawn:
    return [s.take(lambda d: len(d.shape) >= 1 and d.shape[-1] == 2, shape=(3, 2))], {}


def _polar(s: Sketch) -> Drawn:
    size = s.take(domain=None if s.source.chance(0.1) else "positive")
    return [size, s.take_shaped(size.shape)], {}


ENTRIES = rows(
    "complex",
    ("real", "real", 139, unary(), "torch.real(x)", "paddle.real(x)"),
    ("imag", "imag", 343, unary(), "torch.imag(x)", "paddle.imag(x)"),
    ("conj", "conj", 179, unary(), "torch.conj(x)", "paddle.conj(x)"),
    ("complex", "complex", 191, binary(), "torch.complex(re, im)", "paddle.complex(re, im)"),
    ("as_real", "view_as_real", 113, unary(), "torch.view_as_real(x.resolve_conj())", "paddle.as_real(x)"),
    ("as_complex", "view_as_complex", 117, _pairs, "torch.view_as_complex(x.contiguous())", "paddle.as_complex(x.contiguous())"),
    ("angle", "angle", 344, unary("positive"), "torch.angle(x)", "paddle.angle(x)"),
    ("sgn", "sgn", 216, unary("nonzero"), "torch.sgn(x)", "paddle.sgn(x)"),
    ("polar", "polar", 137, _polar, "torch.polar(size, turn)", "paddle.polar(size, turn)"),
    inexact={"angle", "sgn", "polar"},
)
