"""Custom functions to test with: some that are right, and some whose backward is up to the test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reference_impl import OPS, Dialect, Tensor, apply_custom

if TYPE_CHECKING:
    from collections.abc import Callable

add, mul, scaled = (OPS[name] for name in ("add", "mul", "mul_scalar"))


def square(x: Tensor, dialect: Dialect) -> Tensor:
    """The square of ``x``, with its derivative written by hand."""
    return apply_custom(
        lambda operands: ([mul(operands[0], operands[0])], operands),
        lambda saved, cs: [mul(cs[0], scaled(saved[0], other=2.0))],
        [x],
        dialect=dialect,
    )[0]


def exponential(x: Tensor, dialect: Dialect) -> Tensor:
    """``exp(x)``, whose derivative is the output that it saved."""

    def forward(operands: list[Tensor]) -> Any:
        out = OPS["exp"](operands[0])
        return [out], [out]

    return apply_custom(forward, lambda saved, cs: [mul(cs[0], saved[0])], [x], dialect=dialect)[0]


def product(answer: Callable[[list[Tensor], Tensor], list[Tensor | None]], x: Tensor, y: Tensor, dialect: Dialect) -> Tensor:
    """``x * y`` with any backward: ``answer([x, y], g)``."""
    return apply_custom(
        lambda operands: ([mul(*operands)], operands),
        lambda saved, cs: answer(saved, *cs),
        [x, y],
        dialect=dialect,
    )[0]


def doubled(answer: Callable[[Tensor], list[Any]], x: Tensor, dialect: Dialect) -> Tensor:
    """``2 x`` with any backward of the cotangent alone, and nothing saved."""
    return apply_custom(lambda xs: ([scaled(xs[0], other=2.0)], []), lambda _, cs: answer(cs[0]), [x], dialect=dialect)[0]


def two(x: Tensor, dialect: Dialect) -> tuple[Tensor, ...]:
    """Two outputs, ``2 x`` and ``3 x``, and as gradient ten times the first cotangent plus the second."""
    return apply_custom(
        lambda xs: ([scaled(xs[0], other=2.0), scaled(xs[0], other=3.0)], []),
        lambda _, cs: [add(scaled(cs[0], other=10.0), cs[1])],
        [x],
        dialect=dialect,
    )
