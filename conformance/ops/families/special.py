"""Special functions: of the gamma and the Bessel family, the inverse of the error function, the logarithm of odds: one row per op.

They are asked at plain points alone. What each framework makes of their poles and of the ends of the range has been seen to differ,
and has not been written up.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.ops.corners import given
from conformance.ops.draws import unary
from conformance.ops.in_place import LATER
from conformance.ops.numbers import UNIMPLEMENTED, real_only
from conformance.ops.spec import PLAIN, Drawn, Growth, OpSpec, op, rows

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Draw, Sampler

PARAMETERS = (0.5, 1.0, 2.5, 3.0)
"""The parameters of incomplete gamma functions."""


def _function(
    name: str, rank: int, domain: str | None, torch: str, paddle: str, growth: Growth = Growth.UNBOUNDED, **more: Any
) -> OpSpec:
    return op(
        name,
        rank=rank,
        torch=f"torch.{torch}",
        paddle=f"paddle.{paddle}",
        exact=False,
        numbers=real_only(UNIMPLEMENTED),
        growth=growth,
        points=PLAIN,
        in_place=LATER,
        drawn=Drawn.NAMED,
        **{"draw": unary(domain), **more},
    )


def _derivative(s: Sampler) -> Arguments | None:
    return [s.take(domain="positive")], {"n": s.source.choice([1, 2, 3, 0])}


def _dimensions(s: Sampler) -> Arguments | None:
    return [s.take(domain="beyond one")], {"p": s.source.choice([2, 1, 3])}


def _nested(s: Sampler, shape: tuple[int, ...]) -> Any:
    return [_nested(s, shape[1:]) for _ in range(shape[0])] if shape else s.source.choice(PARAMETERS)


def _part(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: 0 not in d.shape, domain="positive")
    return [x], {"a": _nested(s, x.shape)}


def _orders() -> dict[str, Draw]:
    return {f"order {n}": given(_derivative, n=n) for n in (0, 1, 2)}


LGAMMA = _function("lgamma", 332, "positive", "lgamma(x)", "lgamma(x)")
GAMMAINC = _function(
    "gammainc",
    341,
    None,
    "special.gammainc(torch.tensor(a, dtype=x.dtype), x)",
    "gammainc(paddle.to_tensor(a, dtype=x.dtype), x)",
    growth=Growth.BOUNDED,
    draw=_part,
)

ENTRIES = rows(
    "special",
    _function("erfinv", 200, "unit", "erfinv(x)", "erfinv(x)"),
    _function("logit", 201, "share", "logit(x)", "logit(x)"),
    LGAMMA,
    _function("digamma", 333, "positive", "digamma(x)", "digamma(x)"),
    replace(
        LGAMMA,
        name="gammaln",
        base_op="gammaln",
        rank=334,
        calls={"torch": "torch.special.gammaln(x)", "paddle": "paddle.gammaln(x)"},
    ),
    _function("polygamma", 335, None, "polygamma(n, x)", "polygamma(x, n)", draw=_derivative, corners=_orders()),
    _function("multigammaln", 336, None, "mvlgamma(x, p)", "multigammaln(x, p)", draw=_dimensions),
    _function("i0", 337, None, "i0(x)", "i0(x)"),
    _function("i0e", 338, None, "special.i0e(x)", "i0e(x)", growth=Growth.BOUNDED),
    _function("i1", 339, None, "special.i1(x)", "i1(x)"),
    _function("i1e", 340, None, "special.i1e(x)", "i1e(x)", growth=Growth.BOUNDED),
    GAMMAINC,
    replace(
        GAMMAINC,
        name="gammaincc",
        base_op="gammaincc",
        rank=342,
        calls={f: call.replace("gammainc(", "gammaincc(") for f, call in GAMMAINC.calls.items()},
    ),
)
