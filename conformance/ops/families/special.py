"""Special functions: parts of the gamma function, and the logarithm of odds: one row per op.

They are asked at plain points alone. What each framework makes of their poles and of the ends of the range has been seen to differ,
and has not been written up.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.ops.draws import unary
from conformance.ops.in_place import LATER
from conformance.ops.numbers import UNIMPLEMENTED, real_only
from conformance.ops.spec import PLAIN, Drawn, Growth, OpSpec, op, rows

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Sampler

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


def _nested(s: Sampler, shape: tuple[int, ...]) -> Any:
    return [_nested(s, shape[1:]) for _ in range(shape[0])] if shape else s.source.choice(PARAMETERS)


def _part(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: 0 not in d.shape, domain="positive")
    return [x], {"a": _nested(s, x.shape)}


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
    _function("logit", 201, "share", "logit(x)", "logit(x)"),
    GAMMAINC,
    replace(
        GAMMAINC,
        name="gammaincc",
        base_op="gammaincc",
        rank=342,
        calls={f: call.replace("gammainc(", "gammaincc(") for f, call in GAMMAINC.calls.items()},
    ),
)
