"""Faults of complex numbers: rules of their ops, and engines of the other convention."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import reference_impl
from conformance.mutants.mutant import Kind, Mutant, patch
from conformance.mutants.wrong_rule import Entries
from reference_impl import OPS
from reference_impl.primitives import arithmetic
from reference_impl.primitives.complex import is_complex
from reference_impl.primitives.shape import sum_to
from reference_impl.tape.primitive import shape_of

if TYPE_CHECKING:
    from reference_impl import Tensor

wrong = Entries()

div, abs_, conj, real, imag, from_imag = (OPS[name] for name in ("div", "abs", "conj", "real", "imag", "from_imag"))
_grad = reference_impl.grad


@wrong("real.x", what="is that of the imaginary part")
def of_the_other_part(right: Any, g: Any, out: Any, x: Any) -> Any:
    return from_imag(g)


@wrong("from_real.x", what="takes the imaginary for the real part")
def imaginary_taken(right: Any, g: Any, out: Any, x: Any) -> Any:
    return imag(g)


@wrong("from_imag.x", what="takes the real for the imaginary part")
def real_taken(right: Any, g: Any, out: Any, x: Any) -> Any:
    return real(g)


@wrong("sgn.x", what="keeps the part along x, which changes nothing")
def along_kept(right: Any, g: Any, out: Any, x: Any) -> Any:
    return div(g, abs_(x))


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
