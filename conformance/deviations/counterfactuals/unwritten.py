"""Counterfactual rules of gradients that are made of memory which nobody wrote, or that is read behind its end: NaN stands for that.

Which numbers come nobody can say. But a node makes them under a condition of its own, so what other nodes of the same op make is right,
and so is all that none of these numbers gets to.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.deviations.changed_rules import changed_rules
from reference_impl import OPS
from reference_impl.primitives.arithmetic import mul_scalar
from reference_impl.primitives.linalg import bmm
from reference_impl.tape.primitive import Primitive, array_of, shape_of
from reference_impl.tape.rules import intercepted_rules, replaced_forward
from reference_impl.tape.tensor import Mode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from reference_impl.tape.rules import Pull, Pulled, Rule

MANY, SEVERAL = 5, 2
"""Of so many axes the kernel of an extremum knows no way to reduce so many, unless it reduces all."""
SOLVED = "solve", "triangular_solve"
"""Ops whose gradient in the matrix is made of that in the right side."""


def _lost(made: Any) -> Any:
    return mul_scalar(made, other=np.nan)


def gradients_of_extrema_unwritten(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradient of an extremum along several of five or more axes, and not along all of them, not be written."""
    yield changed_rules(("amax", "amin"), _of_many_axes)


def _of_many_axes(right: Rule, _: int, g: Any, out: Any, x: Any, *, axis: Sequence[int] | None, **attrs: Any) -> Any:
    made, rank = right(g, out, x, axis=axis, **attrs), len(shape_of(x))
    return _lost(made) if rank >= MANY and axis is not None and SEVERAL <= len(axis) < rank else made


def gradients_of_single_extrema_unwritten(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradient of an extremum along axes of one element each, beside others of more, not be written."""
    yield changed_rules(("amax", "amin"), _of_one_element)


def _of_one_element(right: Rule, _: int, g: Any, out: Any, x: Any, **attrs: Any) -> Any:
    made, size = right(g, out, x, **attrs), np.size(array_of(x))
    return _lost(made) if size > 1 and np.size(array_of(out)) == size else made


def gradients_of_right_sides_unwritten(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradient in the matrix of a solution be made of one in the right side that is not written, where none is wanted."""
    yield intercepted_rules(_of_unwritten)


def _of_unwritten(right: Pull, primitive: Primitive, node: Any, asked: Sequence[int], g: Any, *given: Any) -> Pulled:
    made = right(node, asked, g, *given)
    if primitive.name not in SOLVED or [*asked] != [0]:
        return made
    return right(node, asked, _lost(g), *given)


def zeros_at_norms_of_groups_read_beyond(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have zeros that arrive at a normalization of groups be one zero, behind which its gradients are read."""
    yield changed_rules(("group_norm", "group_norm_noaffine"), _of_zeros)


def _of_zeros(right: Rule, _: int, g: Any, *given: Any, **attrs: Any) -> Any:
    made = right(g, *given, **attrs)
    return made if array_of(g).any() else _lost(made)


def products_of_nothing_unwritten(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have `bmm` over no terms, and gradients of products without elements in operands that have some, not be written."""
    yield _of_nothing()


@contextmanager
def _of_nothing() -> Iterator[None]:
    with replaced_forward(bmm, _unless_over_terms), changed_rules(("mul",), _of_products):
        yield


def _unless_over_terms(right: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, y: right(x, y) if x.shape[-1] else np.full_like(right(x, y), np.nan)


def _of_products(right: Rule, _: int, g: Any, out: Any, *operands: Any) -> Any:
    made = right(g, out, *operands)
    return made if np.prod(shape_of(out)) or not np.prod(shape_of(made)) else _lost(made)


PRODUCTS = "matmul", "mm", "mv", "bmm", "dot", "inner", "linear", "matmul_as_one"
"""Products over terms, of which there may be none."""


def products_over_no_terms_unwritten(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have products over no terms not be written."""
    yield _over_no_terms()


@contextmanager
def _over_no_terms() -> Iterator[None]:
    with ExitStack() as stack:
        for op in (OPS[name] for name in PRODUCTS if name in OPS):
            if isinstance(op, Primitive):
                stack.enter_context(replaced_forward(op, _unless_empty))
        yield


def _unless_empty(right: Callable[..., Any]) -> Callable[..., Any]:
    def forward(*operands: Any, **attrs: Any) -> Any:
        made = right(*operands, **attrs)
        return np.full_like(made, np.nan) if 0 in map(np.size, operands) else made

    return forward


def second_gradients_over_no_terms_unwritten(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have derivatives of the gradients of a matrix product not be written where they are products over no terms.

    That is the one in what arrives if the inner dimension is 0, and the one in the first factor if the second has no columns. The one
    in the second factor is written, whose first factor is transposed: BLAS takes a matrix without rows, and none without columns.
    """
    yield changed_rules(("matmul",), _of_gradients)


def _of_gradients(right: Rule, _: int, g: Any, out: Any, x: Any, y: Any) -> Any:
    made, differentiated = right(g, out, x, y), Mode.derivative_of
    if differentiated is None or differentiated[1] != 1:
        return made
    terms, columns = shape_of(x)[-1], shape_of(y)[-1] if len(shape_of(y)) > 1 else 1
    for operand, count in ((g, terms), (x, columns)):
        made = made if count else _UNWRITTEN(made, operand)
    return made


def _as_it_is(made: Any, operand: Any) -> Any:  # noqa: ARG001 - the operand has the derivative alone
    return made


_UNWRITTEN = Primitive(_as_it_is, "unwritten_in_derivatives")
"""A gradient whose derivative in an operand was never written."""


@_UNWRITTEN.vjp("made")
def _unwritten_vjp_made(g: Any, out: Any, made: Any, operand: Any) -> Any:  # noqa: ARG001
    return g


@_UNWRITTEN.vjp("operand")
def _unwritten_vjp_operand(g: Any, out: Any, made: Any, operand: Any) -> Any:  # noqa: ARG001
    return np.full(shape_of(operand), np.nan, operand.dtype)


OF_UNWRITTEN = {
    "as if gradients of extrema along several axes were not written": gradients_of_extrema_unwritten,
    "as if gradients of extrema of one element were not written": gradients_of_single_extrema_unwritten,
    "as if gradients of right sides were not written": gradients_of_right_sides_unwritten,
    "as if products without elements were not written": products_of_nothing_unwritten,
    "as if products over no terms were not written": products_over_no_terms_unwritten,
    "as if second gradients over no terms were not written": second_gradients_over_no_terms_unwritten,
    "as if zeros that arrive at norms of groups were read beyond their end": zeros_at_norms_of_groups_read_beyond,
}
"""The rules of this module, by the words of an entry."""
