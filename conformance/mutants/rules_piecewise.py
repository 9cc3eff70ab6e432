"""Wrong rules of piecewise linear and piecewise constant functions: most are wrong only at a kink, or only beyond it."""

from __future__ import annotations

from typing import Any

import numpy as np

from conformance.mutants.wrong_rule import Entries
from reference_impl import OPS
from reference_impl.primitives.selection import ends
from reference_impl.primitives.shape import sum_to
from reference_impl.tape.primitive import array_of, shape_of

wrong = Entries()

mul = OPS["mul"]


@wrong("relu.x", what="masks by the sign of the cotangent")
def masked_by_the_cotangent(right: Any, g: Any, out: Any, x: Any) -> Any:
    return mul(g, OPS["step"](array_of(g), array_of(g)))


@wrong("clamp.x", what="is 0 at a bound")
def bound_excluded(right: Any, g: Any, out: Any, x: Any, *, low: float | None, high: float | None) -> Any:
    low, high = ends(low, high)
    within = np.logical_and(np.greater(array_of(x), low), np.less(array_of(x), high))
    return mul(g, within.astype(g.dtype))


@wrong("hardtanh.x", what="is 1 at a bound")
def bound_included(right: Any, g: Any, out: Any, x: Any, *, low: float, high: float) -> Any:
    return mul(g, OPS["inside"](array_of(x), low=low, high=high))


@wrong("relu6.x", what="is 1 at a bound")
def bounds_included(right: Any, g: Any, out: Any, x: Any) -> Any:
    return mul(g, OPS["inside"](array_of(x), low=0.0, high=6.0))


@wrong("hardshrink.x", what="is 1 at a bound")
def shrunk_bound_included(right: Any, g: Any, out: Any, x: Any, *, bound: float) -> Any:
    return mul(g, np.greater_equal(np.abs(array_of(x)), bound).astype(g.dtype))


@wrong("leaky_relu.x", what="is 0 where the operand is negative")
def not_leaky(right: Any, g: Any, out: Any, x: Any, *, slope: float) -> Any:
    return mul(g, np.greater(array_of(x), 0).astype(g.dtype))


@wrong("maximum.x", what="takes all of the cotangent at a tie")
def all_at_a_tie(right: Any, g: Any, out: Any, x: Any, y: Any) -> Any:
    share = np.greater_equal(array_of(x), array_of(y)).astype(array_of(out).dtype)
    return sum_to(mul(g, share), shape_of(x))


@wrong("maximum.y", what="takes nothing of the cotangent at a tie")
def nothing_at_a_tie(right: Any, g: Any, out: Any, x: Any, y: Any) -> Any:
    share = np.greater(array_of(y), array_of(x)).astype(array_of(out).dtype)
    return sum_to(mul(g, share), shape_of(y))


@wrong("minimum.x", "minimum.y", what="goes to the larger operand")
def to_the_larger(right: Any, g: Any, out: Any, x: Any, y: Any) -> Any:
    return right(g, out, OPS["neg"](array_of(x)), OPS["neg"](array_of(y)))


@wrong("fmax.x", "fmin.x", what="takes nothing of the cotangent at a tie")
def tie_lost(right: Any, g: Any, out: Any, x: Any, y: Any) -> Any:
    apart = np.not_equal(array_of(x), array_of(y)).astype(array_of(out).dtype)
    return right(mul(g, apart), out, x, y)


@wrong("fmax.y", "fmin.y", what="takes the cotangent at a tie, too")
def tie_taken_twice(right: Any, g: Any, out: Any, x: Any, y: Any) -> Any:
    share = np.equal(array_of(out), array_of(y)).astype(array_of(out).dtype)
    return sum_to(mul(g, share), shape_of(y))
