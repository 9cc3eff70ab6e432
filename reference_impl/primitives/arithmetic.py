"""Arithmetic: sums, products, quotients, powers by a number, and copies.

Operands broadcast, and cotangents are summed back. Ops with a Python number are ops of their own, because frameworks implement
them apart from the tensor-tensor ops.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reference_impl.primitives.complex import conjugate
from reference_impl.primitives.promotion import of_one_precision, to_operand
from reference_impl.tape.primitive import Domain, Primitive, alias, composite, own_transpose, primitive, straight_through, zeros_like

if TYPE_CHECKING:
    from collections.abc import Callable


@own_transpose
@primitive(saves=(), ulps=0)
def neg(x: Any) -> Any:
    """Return ``-x``."""
    return np.negative(x)


@primitive(saves=(), error_scale=lambda out, x, y: np.abs(x) + np.abs(y))
def add(x: Any, y: Any) -> Any:
    """Sum ``x + y``."""
    x, y = of_one_precision(x, y)
    return np.add(x, y)


@add.vjp("y")
def add_vjp_y(g: Any, out: Any, x: Any, y: Any) -> Any:
    return to_operand(g, y)


@primitive(saves=(), error_scale=lambda out, x, y: np.abs(x) + np.abs(y))
def sub(x: Any, y: Any) -> Any:
    """Difference ``x - y``."""
    x, y = of_one_precision(x, y)
    return np.subtract(x, y)


@add.vjp("x")
@sub.vjp("x")
def first_term_vjp_x(g: Any, out: Any, x: Any, y: Any) -> Any:
    return to_operand(g, x)


@sub.vjp("y")
def sub_vjp_y(g: Any, out: Any, x: Any, y: Any) -> Any:
    return to_operand(neg(g), y)


@primitive(error_scale=lambda out, x, y: np.abs(x) * np.abs(y))  # |out|; said of the operands: a complex product is a sum
def mul(x: Any, y: Any) -> Any:
    """Product ``x y``."""
    x, y = of_one_precision(x, y)
    return np.multiply(x, y)


@mul.vjp("x")
def mul_vjp_x(g: Any, out: Any, x: Any, y: Any) -> Any:
    return to_operand(mul(g, conjugate(y)), x)


@mul.vjp("y")
def mul_vjp_y(g: Any, out: Any, x: Any, y: Any) -> Any:
    return to_operand(mul(g, conjugate(x)), y)


@primitive(domain={"y": Domain.NONZERO})
def div(x: Any, y: Any) -> Any:
    """Quotient ``x / y``."""
    x, y = of_one_precision(x, y)
    return np.divide(x, y)


@div.vjp("x")
def div_vjp_x(g: Any, out: Any, x: Any, y: Any) -> Any:
    return to_operand(div(g, conjugate(y)), x)


@div.vjp("y")
def div_vjp_y(g: Any, out: Any, x: Any, y: Any) -> Any:  # d(x/y)/dy = -(x/y)/y
    return to_operand(neg(mul(g, conjugate(div(div(x, y), y)))), y)


def sloped(
    times: Callable[..., Any] | None = None, *, over: Callable[..., Any] | None = None, **facts: Any
) -> Callable[..., Primitive]:
    """Make a primitive of a function of single numbers, from which its slope and the other facts of `primitive` say all.

    What arrives leaves ``times`` the conjugate of the slope, or ``over`` that of its reciprocal, as it rounds and grows best. Either is
    said of the result, the operand and the attributes.
    """

    def make(function: Callable[..., Any]) -> Primitive:
        made = primitive(**facts)(function)

        def rule(g: Any, out: Any, x: Any, **attrs: Any) -> Any:
            return mul(g, conjugate(times(out, x, **attrs))) if times else div(g, conjugate(over(out, x, **attrs)))  # type: ignore[misc]

        made.vjp(made.operands[0])(rule)
        return made

    return make


@straight_through
@primitive(saves=(), error_scale=lambda out, x, *, other: np.abs(x) + abs(other))
def add_scalar(x: Any, *, other: float) -> Any:
    """Return ``x + other``."""
    return np.add(x, other)


@primitive(saves=(), error_scale=lambda out, x, *, other: np.abs(x) + abs(other))
def rsub_scalar(x: Any, *, other: float) -> Any:
    """Return ``other - x``."""
    return np.subtract(other, x)


@rsub_scalar.vjp("x")
def rsub_scalar_vjp_x(g: Any, out: Any, x: Any, *, other: float) -> Any:
    return neg(g)


@own_transpose
@primitive()
def mul_scalar(x: Any, *, other: float) -> Any:
    """Return ``x other``."""
    return np.multiply(x, other)


div_by_quotient = alias("div_by_quotient", div)
div_by_quotient.rules = [div_vjp_x, None]


@div_by_quotient.vjp("y")
def div_by_quotient_vjp_y(g: Any, out: Any, x: Any, y: Any) -> Any:  # the same, by the quotient that is there already
    return to_operand(neg(mul(g, conjugate(div(out, y)))), y)


@primitive(domain={"x": Domain.NONZERO})
def reciprocal(x: Any) -> Any:
    """Return ``1 / x``."""
    return np.divide(1.0, x)


@reciprocal.vjp("x")
def reciprocal_vjp_x(g: Any, out: Any, x: Any) -> Any:  # -1/x^2
    return neg(mul(g, conjugate(mul(out, out))))


@composite
def rdiv_scalar(x: Any, *, other: float) -> Any:
    """Return ``other / x``, as the product of ``1 / x`` and a number."""
    return mul_scalar(reciprocal(x), other=other)


@composite
def rdiv_scalar_by_div(x: Any, *, other: float) -> Any:
    """Return ``other / x``, as a quotient of tensors."""
    return div_by_quotient(np.asarray(other, dtype=x.dtype), x)


@primitive(ulps=4)
def pow_scalar(x: Any, *, exponent: float) -> Any:
    """Return ``x**exponent``; bases are positive unless the exponent is a natural number."""
    if exponent == 0.5:  # NumPy takes the root for one number, which is NaN at -inf, and -0 at -0; IEEE 754 has inf and 0
        return np.power(x, np.full(x.shape or (1,), exponent, x.dtype)).reshape(x.shape)
    return np.power(x, exponent)


@pow_scalar.vjp("x")
def pow_scalar_vjp_x(g: Any, out: Any, x: Any, *, exponent: float) -> Any:  # c x^(c-1), and 0 for c = 0 also at x = 0
    if exponent == 0:
        return zeros_like(x)
    return mul(g, conjugate(mul_scalar(pow_scalar(x, exponent=exponent - 1), other=exponent)))


@sloped(lambda out, x: mul_scalar(pow_scalar(x, exponent=1.0), other=2.0), error_scale=lambda out, x: np.square(np.abs(x)))
def square(x: Any) -> Any:
    """Return ``x^2``."""
    return np.square(x)


@straight_through
@primitive(saves=(), ulps=0)
def clone(x: Any) -> Any:
    """Copy."""
    return np.array(x)
