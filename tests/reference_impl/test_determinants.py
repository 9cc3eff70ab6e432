"""A determinant is a polynomial: its gradient, the cofactors, and all that follow are there at matrices without an inverse, too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.backends.reference import reference
from conformance.case.case import Case, Input
from conformance.case.steps import Grad, Op
from conformance.compare.promise import Promise
from conformance.judge.verdict import Bucket, judge
from reference_impl import OPS, TORCH, Tensor, grad
from tests.reference_impl.rule_check import agrees

ROW, COLUMN = np.array([1.0, -2.0, 0.5, 3.0]), np.array([2.0, 1.0, -1.5, 0.25])
SINGULAR = {
    "rank 1 of 2": [[1.0, 2.0], [2.0, 4.0]],
    "zero": [[0.0, 0.0], [0.0, 0.0]],
    "rank 2 of 3": [[2.0, 1.0, 3.0], [4.0, 2.0, 6.0], [1.0, 5.0, 7.0]],
    "rank 1 of 3": [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]],
    "rank 1 of 4": np.outer(COLUMN, ROW),
    "rank 3 of 4": np.diag([0.0, 1.0, 2.0, 3.0])[:, [1, 2, 0, 3]],
    "complex": [[1.0, 2.0j], [1.0j, -2.0]],
    "one of two": [[[1.0, 2.0], [2.0, 4.0]], [[2.0, 1.0], [1.0, 1.0]]],
}


def cofactors(x: Any) -> Any:
    """Return what the gradient of a determinant is: of each element the determinant of what is left without its row and column."""
    if x.ndim > 2:
        return np.array([cofactors(part) for part in x])
    minors = [[np.linalg.det(np.delete(np.delete(x, i, 0), j, 1)) for j in range(len(x))] for i in range(len(x))]
    return np.array(minors) * (-1.0) ** np.add.outer(range(len(x)), range(len(x)))


@pytest.mark.parametrize("name", SINGULAR)
def test_the_gradient_of_a_singular_determinant_is_its_cofactors(name: str) -> None:
    x = Tensor(np.array(SINGULAR[name]), requires_grad=True)
    out = OPS["det"](x)
    (gradient,) = grad([out], [x], [Tensor(np.ones(out.shape, out.dtype))])
    assert np.allclose(np.conj(cofactors(x.array)), gradient.array, rtol=1e-14, atol=1e-14)


def test_a_singular_matrix_beside_one_of_nan_has_its_gradient() -> None:
    x = Tensor(np.array([SINGULAR["rank 1 of 2"], np.full((2, 2), np.nan)]), requires_grad=True)
    with np.errstate(invalid="ignore"):
        (gradient,) = grad([OPS["det"](x)], [x], [Tensor(np.ones(2))])
    assert [[4.0, -2.0], [-2.0, 1.0]] == gradient.array[0].tolist()


@pytest.mark.parametrize("name", SINGULAR)
def test_derivatives_of_a_singular_determinant_are_those_of_differences_to_the_third_order(name: str) -> None:
    assert agrees((OPS["det"], [np.array(SINGULAR[name])]), np.random.default_rng(1))


@pytest.mark.parametrize(("off", "bucket"), [(0.0, Bucket.AGREED), (1e-3, Bucket.DIVERGED)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_singular_determinant_and_its_gradient_have_bounds(dtype: str, off: float, bucket: Bucket) -> None:
    case = Case(
        (Input("x", (3, 3), (2.0, 1.0, 3.0, 4.0, 2.0, 6.0, 1.0, 5.0, 7.0), dtype),),
        (Op("det", ("x",), ("y",)), Grad(("y",), ("x",), ("g",))),
    )
    engine = reference(TORCH, TORCH.not_offered)
    outcome = engine.run(case)
    outcome.observations[1].values[0].array[0, 0] += off
    assert bucket is judge(Promise(case, engine.info), outcome).bucket
