"""Faults of order 2 that only one op can have: a term of its derivative that one forgets.

The gradient is right, and what it counts as depending on is not: part of the rule runs on plain elements instead of tensors. What any
rule can forget of what it depends on is forgotten by `operators`.
"""

from __future__ import annotations

from typing import Any

from conformance.mutants.operators import detached
from conformance.mutants.wrong_rule import Entries
from reference_impl import OPS
from reference_impl.primitives.complex import conjugate
from reference_impl.primitives.reduction import restore_axes
from reference_impl.tape.primitive import array_of, shape_of

wrong = Entries()

sub, mul, div, sum_ = (OPS[name] for name in ("sub", "mul", "div", "sum"))
rsub_scalar, add_scalar, sigmoid = (OPS[name] for name in ("rsub_scalar", "add_scalar", "sigmoid"))


@wrong("silu.x", what="counts the factor x as a constant")
def constant_in_the_product(right: Any, g: Any, out: Any, x: Any) -> Any:
    s = sigmoid(x)
    return mul(g, mul(s, add_scalar(mul(detached(x), rsub_scalar(s, other=1.0)), other=1.0)))


@wrong("prod.x", what="counts the product as a constant")
def constant_product(right: Any, g: Any, out: Any, x: Any, *, axis: int, keepdims: bool) -> Any:
    if not array_of(out).all():  # beside a zero nothing is divided
        return right(g, detached(out), detached(x), axis=axis, keepdims=keepdims)
    return div(restore_axes(mul(g, conjugate(detached(out))), shape_of(x), axis, keepdims=keepdims), conjugate(x))


@wrong("softmax.x", what="counts the mean of the cotangent as a constant")
def constant_mean(right: Any, g: Any, out: Any, x: Any, *, axis: int) -> Any:
    return mul(out, sub(g, detached(sum_(mul(g, out), axis=[axis], keepdims=True))))
