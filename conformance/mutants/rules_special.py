"""Wrong rules of special functions, of dropout that is no matter of chance, and of weights and probabilities."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from conformance.mutants.wrong_rule import Entries
from reference_impl import OPS
from reference_impl.tape.primitive import array_of, shape_of

wrong = Entries()

mul, mul_scalar, square, exp, div, neg = (OPS[name] for name in ("mul", "mul_scalar", "square", "exp", "div", "neg"))


@wrong("sinc.x", what="is that of sin(x) / x")
def without_pi(right: Any, g: Any, out: Any, x: Any) -> Any:
    return mul_scalar(right(g, out, x), other=1.0 / math.pi)


@wrong("sinc_slope.x", what="has the order of what it differentiates")
def order_kept(right: Any, g: Any, out: Any, x: Any, *, order: int) -> Any:
    return mul(g, out)


@wrong("erfinv.x", what="has the operand where the result should be")
def of_the_operand(right: Any, g: Any, out: Any, x: Any) -> Any:
    return mul(g, mul_scalar(exp(square(x)), other=math.sqrt(math.pi) / 2.0))


@wrong("lgamma.x", "gammaln.x", what="is the logarithm that the derivative tends to")
def of_large_numbers(right: Any, g: Any, out: Any, x: Any) -> Any:
    return mul(g, OPS["log"](x))


@wrong("polygamma.x", what="has the order of what it differentiates")
def same_order(right: Any, g: Any, out: Any, x: Any, *, n: int) -> Any:
    return mul(g, out)


@wrong("i1.x", what="lacks the term with the reciprocal")
def of_order_zero(right: Any, g: Any, out: Any, x: Any) -> Any:
    return mul(g, OPS["i0"](x))


@wrong("i0e.x", what="is that of the function that is not damped")
def not_damped(right: Any, g: Any, out: Any, x: Any) -> Any:
    return mul(g, OPS["i1e"](x))


@wrong("entropy.x", what="lacks the term of the other class")
def of_one_class(right: Any, g: Any, out: Any, x: Any, *, target: Any) -> Any:
    return mul(g, neg(div(np.asarray(target, dtype=array_of(x).dtype), x)))


@wrong("prelu.x", what="is 1 at the kink")
def straight_at_the_kink(right: Any, g: Any, out: Any, x: Any, weight: Any) -> Any:
    moved = np.where(np.equal(array_of(x), 0), 1.0, array_of(x)).astype(array_of(x).dtype)
    return right(g, out, moved, weight)


@wrong("prelu.weight", what="counts positive elements, too")
def of_all_elements(right: Any, g: Any, out: Any, x: Any, weight: Any) -> Any:
    return right(mul(g, np.sign(array_of(x))), out, -np.abs(array_of(x)), weight)


@wrong("dropout_eval.x", "dropout_all.x", what="is that of training")
def of_training(right: Any, g: Any, out: Any, x: Any, *, p: float = 0.5) -> Any:
    return mul_scalar(OPS["reshape"](g, shape=shape_of(x)), other=1.0 - p)
