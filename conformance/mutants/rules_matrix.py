"""Wrong rules of products of matrices, convolution, reductions and the softmax family."""

from __future__ import annotations

from typing import Any

import numpy as np

from conformance.mutants.wrong_rule import Entries
from reference_impl import OPS
from reference_impl.primitives.reduction import restore_axes
from reference_impl.tape.primitive import array_of, shape_of

wrong = Entries()

mul, mul_scalar, sub, exp, div, neg = (OPS[name] for name in ("mul", "mul_scalar", "sub", "exp", "div", "neg"))
transpose, flip, expand, cumsum, matmul, cat = (OPS[name] for name in ("transpose", "flip", "expand", "cumsum", "matmul", "cat"))


@wrong("linear.weight", "linear.bias", what="is the mean over the rows instead of the sum")
def mean_over_rows(right: Any, g: Any, out: Any, x: Any, weight: Any, bias: Any) -> Any:
    return mul_scalar(right(g, out, x, weight, bias), other=1.0 / max(1, shape_of(x)[0]))


@wrong("conv2d.x", what="does not turn the kernel")
def kernel_not_turned(right: Any, g: Any, out: Any, x: Any, weight: Any, *, padding: Any) -> Any:
    return right(g, out, x, flip(flip(weight, axis=2), axis=3), padding=padding)


@wrong("conv2d.weight", what="is turned")
def kernel_turned(right: Any, g: Any, out: Any, x: Any, weight: Any, *, padding: Any) -> Any:
    return flip(flip(right(g, out, x, weight, padding=padding), axis=2), axis=3)


@wrong("mean.x", what="is divided by the number of all elements")
def divided_by_all(right: Any, g: Any, out: Any, x: Any, *, axis: Any, keepdims: bool) -> Any:
    results = int(np.prod(shape_of(out)))
    return mul_scalar(right(g, out, x, axis=axis, keepdims=keepdims), other=1.0 / (results or 1))


def _hits(out: Any, x: Any, axis: Any, *, keepdims: bool) -> Any:
    top = array_of(restore_axes(array_of(out), shape_of(x), axis, keepdims=keepdims))
    return np.equal(array_of(x), top)


@wrong("max.x", what="goes to every element that ties")
def all_that_tie(right: Any, g: Any, out: Any, x: Any, *, axis: int, keepdims: bool) -> Any:
    share = _hits(out, x, axis, keepdims=keepdims).astype(array_of(g).dtype)
    return mul(restore_axes(g, shape_of(x), axis, keepdims=keepdims), share)


@wrong("min.x", what="goes to the last element that ties")
def last_that_ties(right: Any, g: Any, out: Any, x: Any, *, axis: int, keepdims: bool) -> Any:
    hits = np.flip(_hits(out, x, axis, keepdims=keepdims), axis)
    last = np.flip(np.logical_and(hits, np.cumsum(hits, axis=axis) == 1), axis)
    return mul(restore_axes(g, shape_of(x), axis, keepdims=keepdims), last.astype(array_of(g).dtype))


@wrong("amax.x", "amin.x", what="goes to every element that ties, undivided")
def undivided(right: Any, g: Any, out: Any, x: Any, *, axis: Any, keepdims: bool) -> Any:
    share = _hits(out, x, axis, keepdims=keepdims).astype(array_of(g).dtype)
    return mul(restore_axes(g, shape_of(x), axis, keepdims=keepdims), share)


@wrong("logsumexp.x", what="is not normalised")
def not_normalised(right: Any, g: Any, out: Any, x: Any, *, axis: int, keepdims: bool) -> Any:
    return mul(restore_axes(g, shape_of(x), axis, keepdims=keepdims), exp(x))


@wrong("prod.x", what="is not divided by the element")
def not_divided(right: Any, g: Any, out: Any, x: Any, *, axis: int, keepdims: bool) -> Any:
    return expand(restore_axes(mul(g, out), shape_of(x), axis, keepdims=keepdims), shape=shape_of(x))


@wrong("softmax.x", what="treats the elements as independent")
def independent(right: Any, g: Any, out: Any, x: Any, *, axis: int) -> Any:
    return mul(out, mul(g, OPS["rsub_scalar"](out, other=1.0)))


@wrong("log_softmax.x", what="takes the logarithm for the probability")
def logarithm_for_probability(right: Any, g: Any, out: Any, x: Any, *, axis: int) -> Any:
    return sub(g, mul(out, OPS["sum"](g, axis=[axis], keepdims=True)))


@wrong("glu.x", what="has its halves swapped")
def halves_swapped(right: Any, g: Any, out: Any, x: Any, *, axis: int) -> Any:
    made = right(g, out, x, axis=axis)
    half = shape_of(x)[axis] // 2
    parts = [OPS["narrow"](made, axis=axis, start=start, length=half) for start in (half, 0)]
    return cat(*parts, axis=axis)
