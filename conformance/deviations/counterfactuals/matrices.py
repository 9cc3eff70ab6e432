"""Counterfactual rules of norms, of lengths, and of matrices; see `counterfactuals.rules`."""

from __future__ import annotations

import functools
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from conformance.deviations.changed_rules import changed_rules
from reference_impl import OPS
from reference_impl.primitives.arithmetic import add, mul, neg
from reference_impl.primitives.elimination import exchanged
from reference_impl.primitives.fused import pulled_through
from reference_impl.primitives.indexing import gather
from reference_impl.primitives.linalg import matmul
from reference_impl.primitives.matrices import adjoint, are_singular, inv, triangle
from reference_impl.primitives.norms import EXTREMA, LARGEST, renorm, renormed, vector_norm
from reference_impl.primitives.reduction import restore_axes
from reference_impl.primitives.shape import transpose, tril, triu
from reference_impl.tape.primitive import Primitive, array_of, shape_of
from reference_impl.tape.rules import intercepted_rules, replaced_forward, replaced_rule
from reference_impl.tape.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from reference_impl.tape.rules import Pull, Pulled, Rule


def eps_added_to_lengths(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradient of a length divide by what is more than the length by the ``eps`` that it was given, rounded to float32."""
    yield changed_rules(("length_of",), _divided_by_more)


def _divided_by_more(right: Rule, _: int, g: Any, out: Any, x: Any, *, eps: float, **attrs: Any) -> Any:
    if not eps:  # that of a distance, which may have lost its axis
        return right(g, out, x, eps=eps, **attrs)
    length = array_of(out)
    return mul(right(g, out, x, eps=eps, **attrs), (length / (length + np.float32(eps).astype(length.dtype))).astype(length.dtype))


ADDED_TO_NORMS = 1e-7
"""By so much the norms that PyTorch divides by are larger."""


def norms_that_are_scaled_larger(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have `renorm` divide by norms that are larger by 1e-7."""
    yield _scaled_to_less()


@contextmanager
def _scaled_to_less() -> Iterator[None]:
    larger = functools.partial(renormed, eps=ADDED_TO_NORMS)
    with replaced_forward(renorm, lambda _: larger), changed_rules(("renorm",), functools.partial(_of_less, larger)):
        yield


def _of_less(larger: Any, _: Rule, __: int, g: Any, ___: Any, x: Any, **attrs: Any) -> Any:
    return pulled_through(lambda x: (larger(x, **attrs),), 0, (g,), (x,))


NORMS = ("vector_norm", "norm", "linalg_norm")


def norms_with_an_epsilon(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have gradients of norms divide by the power of the norm plus 1e-12; norms that are a largest size stay."""
    yield _but_in_renorm(vector_norm.rule(0))


@contextmanager
def _but_in_renorm(right: Any) -> Iterator[None]:
    """Have the rules of norms changed, and `renorm`, for which Paddle has a kernel, be of the right norms that its formula has."""

    def of_right_norms(rule: Rule, _: int, *given: Any, **attrs: Any) -> Any:
        with replaced_rule(vector_norm, 0, lambda _: right):
            return rule(*given, **attrs)

    with changed_rules(NORMS, _with_an_epsilon), changed_rules(("renorm",), of_right_norms):
        yield


def _with_an_epsilon(right: Rule, _: int, g: Any, out: Any, x: Any, *, p: Any, axis: Any, keepdims: bool) -> Any:
    made = right(g, out, x, p=p, axis=axis, keepdims=keepdims)
    if p in EXTREMA:
        return made
    shape = shape_of(x)

    def share(norm: Any) -> Any:
        power = np.power(norm, p - 1.0)
        part = np.asarray(power / (power + float(np.float32(1e-12)))).astype(norm.dtype)
        return np.asarray(restore_axes(part, shape, axis, keepdims=keepdims))

    return mul(made, Primitive(share, "factor")(out))


def largest_sizes_unshared(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradient of a norm that is a largest or smallest size go to every element that reaches it, undivided."""
    yield changed_rules(NORMS, _undivided)


def _undivided(right: Rule, _: int, g: Any, out: Any, x: Any, *, p: Any, axis: Any, keepdims: bool) -> Any:
    if p not in EXTREMA:
        return right(g, out, x, p=p, axis=axis, keepdims=keepdims)
    hit = np.equal(np.abs(array_of(x)), array_of(restore_axes(array_of(out), shape_of(x), axis, keepdims=keepdims)))
    slope = np.where(hit, np.sign(array_of(x)), 0).astype(array_of(out).dtype)
    return mul(restore_axes(g, shape_of(x), axis, keepdims=keepdims), slope)


def extreme_sizes_compared(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the largest and the smallest size be found by one comparison after another, in each of which a NaN loses but as the last.

    What arrives goes undivided to every element that reaches the norm, and each NaN has one for a gradient.
    """
    yield _compared()


@contextmanager
def _compared() -> Iterator[None]:
    with ExitStack() as stack:
        for name in NORMS:
            stack.enter_context(replaced_forward(cast("Primitive", OPS[name]), _one_after_another))
        stack.enter_context(changed_rules(NORMS, _undivided_but_nan))
        yield


def _one_after_another(right: Callable[..., Any]) -> Callable[..., Any]:
    def norm(x: Any, *, p: Any, axis: Any, keepdims: bool) -> Any:
        made = right(x, p=p, axis=axis, keepdims=keepdims)
        if p not in EXTREMA:
            return made
        better = np.greater if p == LARGEST else np.less
        along = range(x.ndim) if axis is None else np.atleast_1d(axis).tolist()
        sizes = np.moveaxis(np.abs(x), along, range(len(along))).reshape(-1, *made.shape)
        return functools.reduce(lambda a, b: np.where(better(a, b), a, b), sizes)

    return norm


def _undivided_but_nan(right: Rule, position: int, g: Any, out: Any, x: Any, **attrs: Any) -> Any:
    made = _undivided(right, position, g, out, x, **attrs)
    if attrs["p"] not in EXTREMA:
        return made
    return mul(made, np.where(np.isnan(array_of(x)), np.nan, 1.0).astype(array_of(x).dtype))


def lower_triangles_cut_above(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradient of a lower triangle with ones on its diagonal be cut above the next diagonal, not below the main one."""
    yield changed_rules(("triangular_solve",), _cut_above)


def _cut_above(right: Rule, position: int, g: Any, out: Any, x: Any, y: Any, *, upper: bool, transposed: bool, unit: bool) -> Any:
    if position or upper or not unit:
        return right(g, out, x, y, upper=upper, transposed=transposed, unit=unit)
    factor = triangle(x, upper=False, unit=True)
    inverse = inv(factor if transposed else transpose(factor, axis0=-2, axis1=-1))
    made = neg(matmul(matmul(inverse, g), transpose(out, axis0=-2, axis1=-1)))
    return tril(transpose(made, axis0=-2, axis1=-1) if transposed else made, diagonal=1)


def transposed_factors_solved_from_the_left(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradient of the factors of a transposed `lu_solve` be solved with each from the left, where it is from the right."""
    yield changed_rules(("lu_solve",), _from_the_left)


def _from_the_left(right: Rule, position: int, g: Any, out: Any, x: Any, y: Any, *, pivots: Any, transposed: bool) -> Any:
    if position or not transposed:
        return right(g, out, x, y, pivots=pivots, transposed=transposed)
    rows = np.broadcast_to(exchanged(pivots)[..., None], shape_of(out))
    g, out = (gather(one, axis=-2, index=rows) for one in (g, out))
    lower = triangle(x, upper=False, unit=True)
    of_lower = matmul(inv(lower), matmul(out, adjoint(g)))
    of_upper = matmul(inv(triu(x, diagonal=0)), matmul(adjoint(lower), of_lower))
    return neg(add(tril(of_lower, diagonal=-1), triu(of_upper, diagonal=0)))


def gradients_of_factors_through_solutions(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradient of a Cholesky factor be made of that of the right side, where both are computed, so that it depends on it."""
    yield intercepted_rules(_through_the_right_side)


def _through_the_right_side(
    right: Pull, primitive: Primitive, node: Any, asked: Sequence[int], g: Any, out: Any, operands: Sequence[Any]
) -> Pulled:
    made = right(node, asked, g, out, operands)
    if primitive is not OPS["cholesky_solve"] or len(asked) < 2 or shape_of(made[0][1]) != shape_of(out):
        return made
    outer = matmul(made[0][1], adjoint(out))
    of_factor = matmul(add(outer, adjoint(outer)), tril(operands[1], diagonal=0))
    return [made[0], (1, neg(tril(of_factor, diagonal=0)))]


def determinants_of_singular_matrices_constant(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradient of a determinant that is 0 be 0, unless that is differentiated further."""
    yield changed_rules(("det",), _of_a_constant)


def _of_a_constant(right: Rule, _: int, g: Any, out: Any, x: Any) -> Any:
    made = right(g, out, x)
    if any(isinstance(part, Tensor) for part in (g, x)) or shape_of(x)[-1] == 1:
        return made
    return np.where(are_singular(x)[..., None, None], np.zeros_like(made), made)


def determinants_made_of_singular_values(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradient of a determinant be made of singular values and vectors, and be rounded as these are."""
    yield changed_rules(("det",), _by_values)


def _by_values(_: Rule, __: int, g: Any, out: Any, x: Any) -> Any:
    return OPS["det_by_values"].rules[0](g, out, x)  # type: ignore[attr-defined]


TAKEN_FOR_ZERO = {np.dtype(np.float32): np.float32(1e-5), np.dtype(np.float64): 1e-12}
"""Below this Paddle takes a determinant for 0."""


def determinants_beside_a_small_one_constant(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradients of a whole batch of determinants be 0 where one of them is small."""
    yield changed_rules(("det",), _of_constants)


def _of_constants(right: Rule, _: int, g: Any, out: Any, x: Any) -> Any:
    return mul(right(g, out, x), Primitive(_unless_one_is_small, "factor")(out))


def _unless_one_is_small(out: Any) -> Any:
    sizes = np.abs(out)
    return np.asarray(not np.any(sizes < TAKEN_FOR_ZERO[sizes.dtype]), out.dtype)
