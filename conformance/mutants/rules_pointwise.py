"""Wrong rules of arithmetic, elementary functions, and ops that select."""

from __future__ import annotations

from typing import Any

import numpy as np

from conformance.mutants.wrong_rule import Entries
from reference_impl import OPS
from reference_impl.primitives.shape import sum_to
from reference_impl.tape.primitive import shape_of

wrong = Entries()

add, sub, mul, div, neg, exp, log = (OPS[name] for name in ("add", "sub", "mul", "div", "neg", "exp", "log"))
mul_scalar, rsub_scalar, pow_scalar, masked_fill = (OPS[name] for name in ("mul_scalar", "rsub_scalar", "pow_scalar", "masked_fill"))


@wrong("div.x", "log.x", what="multiplies where it should divide")
def multiplied(right: Any, g: Any, out: Any, *operands: Any) -> Any:
    return sum_to(mul(g, operands[-1]), shape_of(operands[0]))


@wrong("div_by_quotient.y", what="lacks the second division")
def one_division(right: Any, g: Any, out: Any, x: Any, y: Any) -> Any:
    return sum_to(neg(mul(g, out)), shape_of(y))


@wrong("add_scalar.x", what="is scaled by the number")
def scaled(right: Any, g: Any, out: Any, x: Any, *, other: float) -> Any:
    return mul_scalar(g, other=other)


@wrong("reciprocal.x", what="takes 1/x for its square")
def not_squared(right: Any, g: Any, out: Any, x: Any) -> Any:
    return neg(mul(g, out))


@wrong("pow_scalar.x", what="does not lower the exponent")
def exponent_kept(right: Any, g: Any, out: Any, x: Any, *, exponent: float) -> Any:
    return mul(g, mul_scalar(out, other=exponent))


@wrong("pow.x", what="does not lower the exponent")
def power_kept(right: Any, g: Any, out: Any, x: Any, y: Any) -> Any:
    return sum_to(mul(g, mul(y, out)), shape_of(x))


@wrong("pow.y", what="takes the logarithm of the result for that of the base")
def log_of_result(right: Any, g: Any, out: Any, x: Any, y: Any) -> Any:
    return sum_to(mul(g, mul(out, log(out))), shape_of(y))


@wrong("clone.x", what="is zero: a copy counts as detached")
def zero(right: Any, g: Any, *_: Any, **__: Any) -> Any:
    return mul_scalar(g, other=0.0)


@wrong("tanh.x", what="takes the result for its square")
def square_forgotten(right: Any, g: Any, out: Any, x: Any) -> Any:
    return mul(g, rsub_scalar(out, other=1.0))


@wrong("sigmoid.x", what="lacks the factor 1 - s")
def half_of_the_slope(right: Any, g: Any, out: Any, x: Any) -> Any:
    return mul(g, out)


@wrong("logistic_slope.s", what="lacks the factor 2")
def half_as_bent(right: Any, g: Any, out: Any, s: Any) -> Any:
    return mul(g, rsub_scalar(s, other=1.0))


@wrong("softplus.x", what="is scaled by beta once too often")
def scaled_again(right: Any, g: Any, out: Any, x: Any, *, beta: float) -> Any:
    return mul_scalar(right(g, out, x, beta=beta), other=beta)


@wrong("softplus_slope.x", what="lacks the factor beta")
def unscaled(right: Any, g: Any, out: Any, x: Any, *, beta: float) -> Any:
    return mul_scalar(right(g, out, x, beta=beta), other=1.0 / beta)


@wrong("silu.x", "silu_by_result.x", what="lacks the term x s (1 - s)")
def term_missing(right: Any, g: Any, out: Any, x: Any) -> Any:
    return mul(g, OPS["sigmoid"](x))


@wrong("silu_pulled.g", what="lacks the term x s (1 - s)")
def term_of_the_transpose_missing(right: Any, g: Any, out: Any, of: Any, x: Any, result: Any) -> Any:
    return mul(g, OPS["sigmoid"](x))


@wrong("silu_pulled.x", what="takes x for the result")
def operand_for_result(right: Any, g: Any, out: Any, of: Any, x: Any, result: Any) -> Any:
    return right(g, out, of, x, x)


@wrong("gelu.x", what="is that of the tanh approximation")
def of_the_approximation(right: Any, g: Any, out: Any, x: Any) -> Any:
    c, k = 0.7978845608028654, 0.044715
    t = OPS["tanh"](mul_scalar(add(x, mul_scalar(mul(mul(x, x), x), other=k)), other=c))
    inner = mul_scalar(OPS["add_scalar"](mul_scalar(mul(x, x), other=3.0 * k), other=1.0), other=c)
    bent = mul(mul(x, rsub_scalar(mul(t, t), other=1.0)), inner)
    return mul(g, mul_scalar(OPS["add_scalar"](add(t, bent), other=1.0), other=0.5))


@wrong("gelu_slope.x", what="has 1 for the 2 in phi(x) (2 - x^2)")
def wrong_constant(right: Any, g: Any, out: Any, x: Any) -> Any:
    density = mul_scalar(exp(mul_scalar(mul(x, x), other=-0.5)), other=0.3989422804014327)
    return sub(right(g, out, x), mul(g, density))


@wrong("where.x", what="is masked the wrong way round")
def mask_inverted(right: Any, g: Any, out: Any, x: Any, y: Any, *, mask: Any) -> Any:
    return sum_to(masked_fill(g, mask=mask, value=0.0), shape_of(x))


@wrong("masked_fill_tensor.value", what="sums the whole cotangent")
def mask_forgotten(right: Any, g: Any, out: Any, x: Any, value: Any, *, mask: Any) -> Any:
    return sum_to(g, shape_of(value))


@wrong("topk.x", what="goes to the first k elements instead of the largest")
def to_the_first(right: Any, g: Any, out: Any, x: Any, *, k: int, axis: int) -> Any:
    shape = shape_of(x)
    steps = np.arange(k).reshape([k if i == axis % len(shape) else 1 for i in range(len(shape))])
    return OPS["scatter_add"](g, axis=axis, index=np.broadcast_to(steps, shape_of(g)), shape=shape)
