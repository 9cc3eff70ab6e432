"""Faults of complex numbers: rules that do not conjugate, rules of their ops, and engines of the other convention."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import reference_impl
from conformance.mutants.mutant import Kind, Mutant, patch
from conformance.mutants.wrong import Entries
from reference_impl import OPS
from reference_impl.primitive import shape_of
from reference_impl.primitives import arithmetic
from reference_impl.primitives.complex import conjugate, is_complex
from reference_impl.primitives.shape import sum_to

if TYPE_CHECKING:
    from reference_impl import Tensor

wrong = Entries()

neg, div, abs_, conj, real, imag = (OPS[name] for name in ("neg", "div", "abs", "conj", "real", "imag"))
from_imag, as_real, as_complex = (OPS[name] for name in ("from_imag", "as_real", "as_complex"))
_grad = reference_impl.grad

UNCONJUGATED = "does not conjugate its factor"


@wrong(
    "mul.x", "mul.y", "div.x", "div.y", "div_by_quotient.x", "div_by_quotient.y", "reciprocal.x", what="does not conjugate its factor"
)
@wrong(
    "square.x",
    "pow_scalar.x",
    "exp.x",
    "log.x",
    "sqrt.x",
    "sin.x",
    "cos.x",
    "tanh.x",
    "sigmoid.x",
    what="does not conjugate its factor",
)
@wrong("matmul.x", "matmul.y", "linear.x", "linear.weight", "pow.x", "pow.y", "prod.x", what=UNCONJUGATED)
def not_conjugated(right: Any, g: Any, *given: Any, **attrs: Any) -> Any:
    return conjugate(right(conjugate(g), *given, **attrs))


@wrong("conj.x", what="is not conjugated")
def passed_on(right: Any, g: Any, out: Any, x: Any) -> Any:
    return g


@wrong("real.x", what="is that of the imaginary part")
def of_the_other_part(right: Any, g: Any, out: Any, x: Any) -> Any:
    return from_imag(g)


@wrong("from_real.x", what="takes the imaginary for the real part")
def imaginary_taken(right: Any, g: Any, out: Any, x: Any) -> Any:
    return imag(g)


@wrong("from_imag.x", what="takes the real for the imaginary part")
def real_taken(right: Any, g: Any, out: Any, x: Any) -> Any:
    return real(g)


@wrong("imag.x", "complex.im", what="has the sign of the other convention")
def other_sign(right: Any, *given: Any) -> Any:
    return neg(right(*given))


@wrong("complex.re", what="is not summed over broadcast axes")
def part_not_summed(right: Any, g: Any, *_: Any) -> Any:
    return real(g)


@wrong("as_real.x", what="has the imaginary part of the other convention")
def conjugated(right: Any, *given: Any) -> Any:
    return conj(right(*given))


@wrong("as_complex.x", what="has the imaginary part of the other convention")
def split_conjugated(right: Any, g: Any, out: Any, x: Any) -> Any:
    return right(conj(g), out, x)


@wrong("sgn.x", what="keeps the part along x, which changes nothing")
def along_kept(right: Any, g: Any, out: Any, x: Any) -> Any:
    return div(g, abs_(x))


@wrong("angle.x", what="does not conjugate the operand")
def operand_not_conjugated(right: Any, g: Any, out: Any, x: Any) -> Any:
    return div(from_imag(g), x)


def _holomorphic(*arguments: Any, **options: Any) -> list[Tensor | None]:
    """Answer with ``dL/dx - i dL/dy``, as engines do that call the plain derivative the gradient."""
    return [None if g is None else conj(g) if is_complex(g) else g for g in _grad(*arguments, **options)]


def _left_complex(g: Any, x: Any) -> Any:
    return sum_to(g, shape_of(x))


MUTANTS = (
    Mutant(
        "other_convention",
        Kind.ENGINE,
        "complex",
        "grad answers with the conjugates of gradients",
        patch((reference_impl, "grad", _holomorphic)),
    ),
    Mutant(
        "complex_for_real",
        Kind.ENGINE,
        "complex",
        "a real operand beside a complex one gets a complex gradient",
        patch((arithmetic, "to_operand", _left_complex)),
    ),
)
