"""Faults that show only at order 2: the gradient is right, and what it counts as depending on is not.

A rule runs on tensors where its result is to be differentiated again. Here part of it runs on plain elements instead, so a derivative
of the derivative lacks a term. Ops that are curved lose half of what their gradient depends on through the operands, which leaves
every value and every flag of the first order as it is; linear ones half of what it depends on through the cotangent. Where there is a
term that one forgets, that one is forgotten, too.
"""

from __future__ import annotations

from typing import Any

from conformance.mutants.wrong import Entries
from reference_impl import OPS, Variable
from reference_impl.primitive import array_of, shape_of
from reference_impl.primitives.complex import conjugate
from reference_impl.primitives.reduction import restore_axes

wrong = Entries()

add, sub, mul, div, neg, exp, log, sum_ = (OPS[name] for name in ("add", "sub", "mul", "div", "neg", "exp", "log", "sum"))
mul_scalar, rsub_scalar, add_scalar, sigmoid = (OPS[n] for n in ("mul_scalar", "rsub_scalar", "add_scalar", "sigmoid"))

CURVED = (
    *("mul.x", "mul.y", "div.x", "div.y", "div_by_quotient.x", "div_by_quotient.y", "reciprocal.x", "pow_scalar.x", "square.x"),
    *(
        "exp.x",
        "log.x",
        "pow.x",
        "pow.y",
        "sqrt.x",
        "rsqrt.x",
        "sin.x",
        "cos.x",
        "tanh.x",
        "sigmoid.x",
        "softplus.x",
        "silu.x",
        "erf.x",
    ),
    *("gelu.x", "conv2d.x", "conv2d.weight", "matmul.x", "matmul.y", "bmm.x", "bmm.y", "linear.x", "linear.weight", "logsumexp.x"),
    *("prod.x", "mse_loss.x", "mse_loss.y", "softmax.x", "log_softmax.x", "glu.x", "sgn.x", "angle.x"),
)
"""The rules whose result is a function of the operands that is not piecewise constant, of all ops that a script can apply."""

LINEAR = (
    *("reshape.x", "view.x", "flatten.x", "permute.x", "transpose.x", "t.x", "contiguous.x", "unsqueeze.x", "squeeze.x", "expand.x"),
    *("cat.xs", "stack.xs", "split.x", "chunk.x", "unbind.x", "pad_constant.x", "tile.x", "repeat.x", "repeat_interleave.x"),
    *("roll.x", "flip.x", "tril.x", "triu.x", "neg.x", "add.x", "add.y", "sub.x", "sub.y", "add_scalar.x", "rsub_scalar.x"),
    *("mul_scalar.x", "clone.x", "cast.x", "getitem_slice.x", "getitem_strided.x", "getitem_int.x", "index_select.x"),
    *("getitem_intarray.x", "embedding.weight", "gather.x", "linear.bias", "sum.x", "mean.x", "max.x", "min.x", "amax.x", "cumsum.x"),
    *("maximum.x", "maximum.y", "minimum.x", "minimum.y", "clamp.x", "abs.x", "relu.x", "where.x", "where.y", "masked_fill.x"),
    *("amin.x", "leaky_relu.x", "fmax.x", "fmax.y", "fmin.x", "fmin.y", "hardshrink.x", "hardtanh.x", "relu6.x"),
    *("masked_fill_tensor.x", "masked_fill_tensor.value", "topk.x", "setitem.x", "setitem.value"),
    *("real.x", "imag.x", "conj.x", "complex.re", "complex.im", "as_real.x", "as_complex.x"),
)
"""The other rules of all ops that a script can apply; a result that is zero is left out."""


def detached(x: Any) -> Any:
    """Return what an operand, an output or a cotangent is, without what it was made of."""
    if isinstance(x, tuple):
        return tuple(map(detached, x))
    if isinstance(x, Variable):
        copy = OPS["clone"](x)
        copy.stop_gradient = True
        return copy
    return array_of(x)


def _mean(one: Any, other: Any) -> Any:
    return mul_scalar(add(one, other), other=0.5)


@wrong(*CURVED, what="forgets half of how it depends on the operands")
def half_linked(right: Any, g: Any, out: Any, *operands: Any, **attrs: Any) -> Any:
    return _mean(right(g, out, *operands, **attrs), right(g, detached(out), *map(detached, operands), **attrs))


@wrong(*LINEAR, what="forgets half of how it depends on the cotangent")
def half_of_the_cotangent(right: Any, g: Any, *given: Any, **attrs: Any) -> Any:
    return _mean(right(g, *given, **attrs), right(detached(g), *given, **attrs))


@wrong("exp.x", "sqrt.x", "sigmoid.x", "tanh.x", "rsqrt.x", what="counts the result as a constant")
def constant_result(right: Any, g: Any, out: Any, x: Any) -> Any:
    return right(g, detached(out), x)


@wrong("sin.x", "cos.x", what="counts the cotangent as a constant")
def constant_cotangent(right: Any, g: Any, out: Any, x: Any) -> Any:
    return right(detached(g), out, x)


@wrong("mul.x", "mul.y", "matmul.x", "matmul.y", "mse_loss.x", "bmm.y", what="counts the operands as constants")
def constant_operands(right: Any, g: Any, out: Any, x: Any, y: Any) -> Any:
    return right(g, out, detached(x), detached(y))


@wrong("mse_loss.y", what="counts the other operand as a constant")
def other_constant(right: Any, g: Any, out: Any, x: Any, y: Any) -> Any:
    return right(g, out, detached(x), y)


@wrong("div.y", what="counts the dividend as a constant")
def constant_dividend(right: Any, g: Any, out: Any, x: Any, y: Any) -> Any:
    return right(g, out, detached(x), y)


@wrong("pow.x", what="counts the exponent as a constant")
def constant_exponent(right: Any, g: Any, out: Any, x: Any, y: Any) -> Any:
    return right(g, out, x, detached(y))


@wrong("pow.y", what="counts the logarithm as a constant")
def constant_logarithm(right: Any, g: Any, out: Any, x: Any, y: Any) -> Any:
    return right(g, out, detached(x), y)


@wrong("silu.x", what="counts the factor x as a constant")
def constant_in_the_product(right: Any, g: Any, out: Any, x: Any) -> Any:
    s = sigmoid(x)
    return mul(g, mul(s, add_scalar(mul(detached(x), rsub_scalar(s, other=1.0)), other=1.0)))


@wrong("logsumexp.x", what="counts the result as a constant: exp(x - out) without its normalisation")
def constant_normalisation(right: Any, g: Any, out: Any, x: Any, *, axis: int, keepdims: bool) -> Any:
    return right(g, detached(out), x, axis=axis, keepdims=keepdims)


@wrong("prod.x", what="counts the product as a constant")
def constant_product(right: Any, g: Any, out: Any, x: Any, *, axis: int, keepdims: bool) -> Any:
    if not array_of(out).all():  # beside a zero nothing is divided
        return right(g, detached(out), detached(x), axis=axis, keepdims=keepdims)
    return div(restore_axes(mul(g, conjugate(detached(out))), shape_of(x), axis, keepdims=keepdims), conjugate(x))


@wrong("softmax.x", what="counts the mean of the cotangent as a constant")
def constant_mean(right: Any, g: Any, out: Any, x: Any, *, axis: int) -> Any:
    return mul(out, sub(g, detached(sum_(mul(g, out), axis=[axis], keepdims=True))))


@wrong("log_softmax.x", what="counts the probabilities as constants")
def constant_probabilities(right: Any, g: Any, out: Any, x: Any, *, axis: int) -> Any:
    return sub(g, mul(detached(exp(out)), sum_(g, axis=[axis], keepdims=True)))


@wrong("glu.x", what="counts the operand as a constant")
def constant_operand(right: Any, g: Any, out: Any, x: Any, *, axis: int) -> Any:
    return right(g, out, detached(x), axis=axis)


@wrong("abs.x", what="counts the direction of a complex number as a constant")
def constant_direction(right: Any, g: Any, out: Any, x: Any) -> Any:
    return right(g, out, detached(x))
