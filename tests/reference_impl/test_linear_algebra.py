"""Values of the ops of linear algebra against their definitions, by other means than theirs."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from conformance.generate.matrices import are_matrices, dominant, is_dominant, matrices
from conformance.ops.families.contractions import OF_ONE, OF_THREE, OF_TWO
from reference_impl import OPS, Tensor, grad
from reference_impl.tape.primitive import Domain

MARGIN = 0.1


def drawn(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).uniform(-2.0, 2.0, shape)


def matrix(*shape: int, definite: bool = False) -> Any:
    return dominant(drawn(*shape), definite=definite)


def shapes_of(equation: str) -> list[tuple[int, ...]]:
    lengths = {"i": 3, "j": 2, "k": 4, "l": 2, "b": 2}
    parts = equation.partition("->")[0].split(",")
    return [tuple(lengths[c] for c in part.replace("...", "b")) for part in parts]


@pytest.mark.parametrize("equation", [*OF_ONE.values(), *OF_TWO.values(), *OF_THREE.values()])
def test_einsum_is_that_of_numpy(equation: str) -> None:
    operands = [drawn(*shape, seed=i) for i, shape in enumerate(shapes_of(equation))]
    expected = np.einsum(equation, *operands)
    names = {
        1: ("einsum_single", "einsum_single_as_one"),
        2: ("einsum", "einsum_as_one"),
        3: ("einsum_triple", "einsum_triple_by_pairs"),
    }
    for name in names[len(operands)]:
        assert np.allclose(expected, OPS[name](*operands, equation=equation), rtol=1e-13)


@pytest.mark.parametrize("axes", [0, 1, 2, [[0, 2], [1, 0]]])
def test_tensordot_is_that_of_numpy(axes: Any) -> None:
    x, y = drawn(3, 4, 3), drawn(3, 3, 4, seed=1) if isinstance(axes, list) else drawn(*(3, 4, 3)[3 - axes :], 2, seed=1)
    assert np.allclose(np.tensordot(x, y, axes), OPS["tensordot"](x, y, axes=axes), rtol=1e-13)


def test_a_cross_product_is_at_right_angles_and_as_long_as_the_area() -> None:
    x, y = drawn(4, 3), drawn(4, 3, seed=1)
    made = OPS["cross"](x, y, axis=1)
    assert np.allclose(0.0, [(made * x).sum(1), (made * y).sum(1)], atol=1e-14)
    assert np.allclose((x * x).sum(1) * (y * y).sum(1) - (x * y).sum(1) ** 2, (made * made).sum(1))
    assert np.allclose(np.eye(3)[2], OPS["cross"](np.eye(3)[0], np.eye(3)[1], axis=0))


@pytest.mark.parametrize("p", [0.5, 1.0, 2.0, 3.0, 4.0])
def test_a_norm_is_the_root_of_a_sum_of_powers(p: float) -> None:
    x = drawn(3, 4)
    expected = [math.fsum(abs(v) ** p for v in row) ** (1 / p) for row in x]
    assert np.allclose(expected, OPS["vector_norm"](x, p=p, axis=1, keepdims=False), rtol=1e-14)
    differences = [[math.fsum(abs(a - b) ** p for a, b in zip(r, q, strict=True)) ** (1 / p) for q in x[:2]] for r in x]
    assert np.allclose(differences, OPS["cdist"](x, x[:2], p=p), rtol=1e-13)
    pairs = [OPS["cdist"](x, x, p=p)[i, j] for i, j in itertools.combinations(range(3), 2)]
    assert np.allclose(pairs, OPS["pdist"](x, p=p), rtol=1e-13)


def test_the_norm_of_order_infinity_is_the_largest_size() -> None:
    assert np.array_equal([3.0, 2.0], OPS["vector_norm"](np.array([[1.0, -3.0], [2.0, 0.0]]), p="inf", axis=-1, keepdims=False))


def test_the_norm_of_order_minus_infinity_is_the_smallest_size_and_those_that_tie_share_its_gradient() -> None:
    x = Tensor(np.array([[2.0, -2.0, 3.0], [1.0, 0.5, -4.0]]), requires_grad=True)
    out = OPS["vector_norm"](x, p="-inf", axis=-1, keepdims=False)
    assert np.array_equal([2.0, 0.5], out.array)
    assert np.array_equal([[0.5, -0.5, 0.0], [0.0, 1.0, 0.0]], grad([out], [x], [Tensor(np.ones(2))])[0].array)


@pytest.mark.parametrize("p", [0.5, 1.0, 1.5, 2.0, 3.0, "inf", "-inf"])
def test_the_gradient_of_a_norm_at_zero_is_zero(p: Any) -> None:
    x = Tensor(np.zeros((2, 3)), requires_grad=True)
    out = OPS["vector_norm"](x, p=p, axis=1, keepdims=False)
    assert not grad([out], [x], [Tensor(np.ones(2))])[0].array.any()


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0, "inf"])
def test_rows_that_are_longer_than_a_bound_are_scaled_to_it(p: Any) -> None:
    x = np.array([[3.0, -4.0], [0.25, 0.5], [0.0, 0.0]])
    made = OPS["renorm"](x, p=p, axis=0, largest=1.0)
    assert np.allclose(x[0] / np.linalg.norm(x[0], float(p)), made[0], rtol=1e-14)
    assert np.array_equal(x[1:], made[1:])


@pytest.mark.parametrize("p", [0.5, 1.5, 2.0, 3.0])
def test_the_gradient_of_a_norm_at_a_zero_among_others_is_zero(p: float) -> None:
    x = Tensor(np.array([0.0, -2.0]), requires_grad=True)
    out = OPS["vector_norm"](x, p=p, axis=0, keepdims=False)
    assert np.allclose([0.0, -1.0], grad([out], [x], [Tensor(np.ones(()))])[0].array, rtol=1e-15)


def by_permutations(x: Any) -> float:
    n = len(x)
    signs = ((-1) ** sum(p[i] > p[j] for i, j in itertools.combinations(range(n), 2)) for p in itertools.permutations(range(n)))
    products = (math.prod(x[i, j] for i, j in enumerate(p)) for p in itertools.permutations(range(n)))
    return math.fsum(sign * product for sign, product in zip(signs, products, strict=True))


def test_a_determinant_is_the_sum_over_permutations() -> None:
    x = drawn(4, 4)
    assert math.isclose(by_permutations(x), OPS["det"](x), rel_tol=1e-12)
    assert math.isclose(math.log(abs(by_permutations(x))), OPS["slogdet"](x), rel_tol=1e-12)


def test_inverses_and_solutions_solve() -> None:
    x, y = matrix(2, 3, 3), drawn(2, 3, 2)
    assert np.allclose(np.eye(3), x @ OPS["inv"](x), atol=1e-14)
    assert np.allclose(y, x @ OPS["solve"](x, y), atol=1e-14)


@pytest.mark.parametrize(("upper", "transposed", "unit"), [*itertools.product((False, True), repeat=3)])
def test_triangular_solutions_solve(upper: bool, transposed: bool, unit: bool) -> None:
    x, y = matrix(3, 3), drawn(3, 2)
    factor = np.triu(x) if upper else np.tril(x)
    if unit:
        np.fill_diagonal(factor, 1.0)
    made = OPS["triangular_solve"](x, y, upper=upper, transposed=transposed, unit=unit)
    assert np.allclose(y, (factor.T if transposed else factor) @ made, atol=1e-14)


def test_a_singular_matrix_has_no_inverse() -> None:
    assert np.isnan(OPS["inv"](np.ones((2, 2)))).all()


@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (3, 3)])
def test_a_pseudoinverse_keeps_the_four_conditions_of_penrose(shape: tuple[int, int]) -> None:
    x = matrix(*shape)
    made = OPS["pinv"](x)
    assert np.allclose(x, x @ made @ x)
    assert np.allclose(made, made @ x @ made)
    assert np.allclose(x @ made, (x @ made).T)
    assert np.allclose(made @ x, (made @ x).T)


def test_a_cholesky_factor_is_a_lower_triangle_whose_square_is_the_symmetric_part() -> None:
    x = matrix(3, 3, definite=True)
    made = OPS["cholesky"](x)
    assert np.allclose((x + x.T) / 2, made @ made.T)
    assert np.array_equal(np.tril(made), made)


def test_what_is_solved_by_a_factor_is_solved_by_its_square() -> None:
    factor, y = np.tril(matrix(3, 3, definite=True)), drawn(3, 2)
    assert np.allclose(np.eye(3), factor @ factor.T @ OPS["cholesky_inverse"](factor))
    assert np.allclose(y, factor @ factor.T @ OPS["cholesky_solve"](y, factor))


@pytest.mark.parametrize(("n", "expected"), [(2, lambda x: x @ x), (3, lambda x: x @ x @ x), (-2, lambda x: np.linalg.inv(x @ x))])
def test_powers_are_products(n: int, expected: Any) -> None:
    x = matrix(3, 3)
    assert np.allclose(expected(x), OPS["matrix_power"](x, n=n))


@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (2, 3, 3)])
def test_parts_of_a_decomposition_make_the_matrix(shape: tuple[int, ...]) -> None:
    x = matrix(*shape)
    u, s, vh = OPS["svd"](x)
    assert np.allclose(x, (u * s[..., None, :]) @ vh)
    assert np.allclose(s * s, np.sort(np.linalg.eigvalsh(x @ x.swapaxes(-1, -2)))[..., ::-1][..., : s.shape[-1]])


def test_eigenvectors_are_turned_into_multiples_of_themselves() -> None:
    x = matrix(3, 3)
    x = x + x.T
    w, v = OPS["eigh"](x)
    assert np.allclose(x @ v, v * w)
    assert np.allclose(w, OPS["eigvalsh"](x))


def test_a_qr_decomposition_has_orthonormal_columns_and_a_triangle() -> None:
    x = matrix(4, 2)
    q, r = OPS["qr"](x)
    assert np.allclose(x, q @ r)
    assert np.allclose(np.eye(2), q.T @ q)
    assert np.array_equal(np.triu(r), r)


@pytest.mark.parametrize("order", ["fro", "nuc", 2, 1, "inf"])
def test_norms_of_matrices_are_those_of_numpy(order: Any) -> None:
    x = matrix(4, 3)
    made = OPS["matrix_norm"](x, order=order, keepdims=True)
    assert np.allclose(np.linalg.norm(x, math.inf if order == "inf" else order, keepdims=True), made)
    assert np.allclose(np.linalg.cond(x), OPS["cond"](x))


# The matrices that are drawn.


@pytest.mark.parametrize("definite", [False, True])
@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (2, 5, 5), (17, 17), (2, 4), (4, 2)])
def test_a_matrix_that_is_drawn_is_far_from_singular(shape: tuple[int, ...], definite: bool) -> None:
    made = dominant(drawn(*shape), definite=definite)
    values = np.linalg.svd(made, compute_uv=False)
    assert is_dominant(made, MARGIN, definite=definite)
    assert values.min() > 0.5
    assert min(shape[-2:]) == 1 or np.abs(np.diff(values, axis=-1)).min() > MARGIN


@pytest.mark.parametrize("wrong", [np.ones((2, 2)), np.diag([1.0, 1.0]), np.array([[1.0, 5.0], [0.0, 2.0]]), np.ones(3)])
def test_a_matrix_that_is_near_a_singular_or_a_repeated_one_is_not_taken(wrong: Any) -> None:
    assert not is_dominant(wrong, MARGIN, definite=False)


def test_a_matrix_with_a_negative_diagonal_is_not_definite() -> None:
    turned = np.diag([1.0, -2.0])
    assert is_dominant(turned, MARGIN, definite=False)
    assert not is_dominant(turned, MARGIN, definite=True)


@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (2, 4, 4), (2, 5), (5, 2)])
def test_a_matrix_that_is_drawn_for_an_elimination_is_known_as_one(shape: tuple[int, ...]) -> None:
    assert are_matrices(matrices(drawn(*shape), Domain.PIVOTED), MARGIN, Domain.PIVOTED)


def test_the_rows_of_a_pivoted_matrix_are_in_another_order() -> None:
    asked = np.array([[2.0, 0.5], [1.0, -1.0], [0.0, 1.0]])
    made = matrices(asked, Domain.PIVOTED)
    assert np.array_equal(dominant(asked, definite=False)[::-1], made)
    assert not is_dominant(made, MARGIN, definite=False)


def test_a_matrix_with_two_pivots_alike_is_not_pivoted() -> None:
    assert not are_matrices(np.array([[1.0, 0.1], [1.0, 3.0]]), MARGIN, Domain.PIVOTED)


# Triangular factors.


def factors(made: Any) -> tuple[Any, Any]:
    lower, upper = OPS["lu_unpack"](made, pivots=None)
    return lower, upper


@pytest.mark.parametrize("shape", [(3, 3), (2, 4, 4), (2, 5), (5, 2)])
def test_the_factors_of_an_elimination_multiply_to_the_rows_in_their_order(shape: tuple[int, ...]) -> None:
    x = drawn(*shape)
    lower, upper = factors(OPS["lu"](x))
    assert np.allclose(np.take_along_axis(x, OPS["row_order"](x), -2), lower @ upper, atol=1e-14)
    assert np.abs(lower).max() <= 1.0


@pytest.mark.parametrize("transposed", [False, True])
def test_what_is_solved_by_factors_is_solved_by_the_matrix_that_they_are_of(transposed: bool) -> None:
    made, y = matrix(2, 3, 3), drawn(2, 3, 2)
    lower, upper = factors(made)
    exchanged = lower @ upper
    exchanged[0, [0, 2]] = exchanged[0, [2, 0]]  # the first pivot was the third row
    exchanged[1, [1, 2]] = exchanged[1, [2, 1]]
    x = OPS["lu_solve"](made, y, pivots=[[3, 2, 3], [1, 3, 3]], transposed=transposed)
    assert np.allclose(y, (np.swapaxes(exchanged, -1, -2) if transposed else exchanged) @ x, atol=1e-13)


@pytest.mark.parametrize("shape", [(3, 3), (2, 5), (5, 2)])
def test_the_bound_of_a_factor_is_what_a_disturbance_of_its_product_does(shape: tuple[int, int]) -> None:
    x, eps = matrices(drawn(*shape), Domain.PIVOTED), 1e-7
    made = OPS["lu"](x)
    lower, upper = factors(made)
    terms = np.take_along_axis(np.abs(lower) @ np.abs(upper), np.argsort(OPS["row_order"](x), axis=0), 0)
    moved = [np.abs(OPS["lu"](x + eps * terms * sign) - made) for sign in np.sign(drawn(8, *shape))]
    bound = eps * OPS["lu"].error_scale(made, x)
    assert (np.max(moved, 0) <= bound * (1 + 1e-5)).all()
    assert (np.max(moved, 0) >= bound / 20).all()


@pytest.mark.parametrize("op", ["vander", "vander_as_one"])
def test_a_vandermonde_matrix_has_the_powers_of_a_vector(op: str) -> None:
    assert np.array_equal([[1.0, 2.0, 4.0, 8.0], [1.0, -3.0, 9.0, -27.0]], OPS[op](np.array([2.0, -3.0]), count=4))


# Covariances and exponentials.


@pytest.mark.parametrize("op", ["cov", "cov_of_uncentred"])
@pytest.mark.parametrize("correction", [0, 1])
@pytest.mark.parametrize("shape", [(3, 4), (1, 4), (4,)])
def test_covariances_are_those_of_numpy(op: str, correction: int, shape: tuple[int, ...]) -> None:
    x = drawn(*shape)
    made = OPS[op](x, correction=correction)
    assert np.allclose(np.cov(x, ddof=correction), made, atol=1e-14)
    assert np.shape(np.cov(x)) == made.shape


@pytest.mark.parametrize("op", ["cov_weighted", "cov_weighted_of_uncentred"])
@pytest.mark.parametrize("shape", [(3, 4), (1, 4)])
def test_weighted_covariances_are_those_of_numpy(op: str, shape: tuple[int, ...]) -> None:
    x, weights = drawn(*shape), np.array([0.5, 1.0, 2.0, 0.25])
    made = OPS[op](x, weights)
    assert np.allclose(np.cov(x, aweights=weights), made, atol=1e-14)
    assert np.shape(np.cov(x, aweights=weights)) == made.shape


@pytest.mark.parametrize("op", ["corrcoef", "corrcoef_of_uncentred"])
@pytest.mark.parametrize("shape", [(3, 4), (4,)])
def test_correlations_are_those_of_numpy(op: str, shape: tuple[int, ...]) -> None:
    x = drawn(*shape)
    assert np.allclose(np.corrcoef(x), OPS[op](x), atol=1e-14)


@pytest.mark.parametrize("angle", [1e-3, 0.5, 5.0, 20.0])
def test_the_exponential_of_a_turn_is_a_rotation(angle: float) -> None:
    expected = [[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]]
    assert np.allclose(expected, OPS["matrix_exp"](np.array([[0.0, -angle], [angle, 0.0]])), rtol=0, atol=1e-10)


def test_exponentials_have_the_exponentials_of_eigenvalues() -> None:
    x = matrix(2, 4, 4)
    x = x + np.swapaxes(x, -1, -2)
    values, vectors = np.linalg.eigh(x)
    expected = np.einsum("...ij,...j,...kj->...ik", vectors, np.exp(values), vectors)
    assert np.allclose(expected, OPS["matrix_exp"](x), rtol=1e-12)


def test_the_gradient_of_an_exponential_is_right_whatever_the_size_of_its_seed() -> None:
    x = Tensor(drawn(3, 3), requires_grad=True)
    gradients = [grad([OPS["matrix_exp"](x)], [x], [Tensor(size * drawn(3, 3, seed=1))])[0].array / size for size in (1.0, 2.0**40)]
    assert np.allclose(*gradients, rtol=1e-12)


def test_an_element_of_an_exponential_is_no_more_uncertain_than_its_row_and_its_column() -> None:
    x = np.diag([1.0, 5.0, 9.0])
    scale = OPS["matrix_exp"].error_scale(OPS["matrix_exp"](x), x)  # type: ignore[attr-defined]
    assert np.allclose(np.exp(np.minimum.outer([1.0, 5.0, 9.0], [1.0, 5.0, 9.0])), scale)


def test_a_zero_of_an_exponential_is_as_uncertain_as_its_column() -> None:
    x = np.array([[1.0, 0.5, 0.25], [0.0, 2.0, 0.0], [0.0, 0.5, 1.0]])
    made = OPS["matrix_exp"](x)
    scale = OPS["matrix_exp"].error_scale(made, x)
    assert made[1, 0] == 0.0
    assert scale[1, 0] == made[0, 0]


def test_the_exponential_of_nan_is_nan() -> None:
    assert np.isnan(OPS["matrix_exp"](np.full((2, 2), np.nan))).all()


# Reflections.


@pytest.mark.parametrize("count", [1, 3])
def test_a_product_of_reflections_is_that_of_its_factors(count: int) -> None:
    x, factors = drawn(4, 3), np.array([1.5, 2.0, 1.25])[:count]
    vectors = np.tril(x, -1) + np.eye(4, 3)
    expected = np.eye(4)
    for i, factor in enumerate(factors):
        expected = expected @ (np.eye(4) - factor * np.outer(vectors[:, i], vectors[:, i]))
    assert np.allclose(expected[:, :3], OPS["householder_product"](x, factors), atol=1e-13)


def test_the_packed_form_of_a_factorisation_makes_its_first_factor() -> None:
    h, factors = np.linalg.qr(drawn(4, 3), mode="raw")
    made = OPS["householder_product"](h.T, factors)
    assert np.allclose(np.linalg.qr(drawn(4, 3))[0], made, atol=1e-13)
    assert np.allclose(np.eye(3), made.T @ made, atol=1e-13)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("left", [False, True])
def test_what_is_multiplied_with_reflections_is_multiplied_with_all_of_their_product(left: bool, transposed: bool) -> None:
    x, factors, y = drawn(4, 3), np.array([1.5, 2.0, 1.25]), drawn(*((4, 2) if left else (2, 4)))
    vectors = np.tril(x, -1) + np.eye(4, 3)
    q = np.linalg.multi_dot([np.eye(4) - factor * np.outer(v, v) for factor, v in zip(factors, vectors.T, strict=True)])
    q = q.T if transposed else q
    assert np.allclose(q @ y if left else y @ q, OPS["ormqr"](x, factors, y, left=left, transposed=transposed), atol=1e-13)
