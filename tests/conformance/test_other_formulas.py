"""Another formula of the same function is right, too: what it leaves of terms that cancel is bounded where the adapter says so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from conformance.backends.calls import Calls, Spelling
from conformance.backends.reference import reference
from conformance.case.case import Case, Input
from conformance.case.steps import Grad, Op
from conformance.compare.promise import Promise
from conformance.judge.verdict import Bucket, Verdict, judge
from conformance.ops import catalogue
from examples.engines.functional import FUNCTIONAL, Functional
from examples.engines.numpy_ops import NUMPY
from reference_impl import DIALECTS, OPS, TORCH
from reference_impl.primitives.norms import OF_OTHER_ENGINES
from tests.conformance.by_differences import Numbers, numbers


def grad(outputs: str, inputs: str, result: str) -> Grad:
    return Grad((outputs,), (inputs,), (result,), create_graph=True, allow_unused=True)


def verdict(backend: Any, case: Case) -> Verdict:
    return judge(Promise(case, backend.info), backend.run(case))


SECOND = Case((Input("x", (2,), (-1.5, 0.7), "float64"),), (Op("abs", ("x",), ("y",)), grad("y", "x", "g"), grad("g", "x", "h")))
BY_QUOTIENT = replace(FUNCTIONAL, spelled={"abs": "abs_by_quotient"})


class Leaving(Numbers):
    """A mode that leaves something of a second derivative that vanishes."""

    def __init__(self, rest: float) -> None:
        super().__init__()
        self.rest = rest

    def gradient(self, function: Any, x: Any, seeded: Any) -> Any:
        if not np.array_equal(function(x)[0], np.abs(x)):
            return np.full_like(x, self.rest)
        return np.sign(x) * seeded(function(x))[0]


@pytest.mark.parametrize(
    ("dialect", "rest", "bucket"),
    [
        (BY_QUOTIENT, 1e-16, Bucket.AGREED),
        (FUNCTIONAL, 1e-16, Bucket.DIVERGED),
        (BY_QUOTIENT, 1e-13, Bucket.DIVERGED),
        (BY_QUOTIENT, 0.0, Bucket.AGREED),
    ],
)
def test_roundings_of_a_quotient_are_left_of_a_derivative_that_vanishes_where_the_adapter_says_so(
    dialect: Any, rest: float, bucket: Bucket
) -> None:
    engine = numbers(dialect=dialect)
    engine.engine = Functional(Calls(Spelling("np", NUMPY), np), Leaving(rest), ())
    assert bucket is verdict(engine, SECOND).bucket


@pytest.mark.parametrize(("third", "bucket"), [(0.0, Bucket.AGREED), (np.nan, Bucket.DIVERGED)])
def test_a_quotient_that_is_none_at_zero_has_the_third_derivative_zero_there(third: float, bucket: Bucket) -> None:
    engine = numbers(dialect=BY_QUOTIENT)
    engine.engine = Functional(Calls(Spelling("np", NUMPY), np), Thrice(third), ())
    at_zero = Input("x", (1,), (0.0,), "float64")
    assert bucket is verdict(engine, Case((at_zero,), (*SECOND.steps, grad("h", "x", "k")))).bucket


class Thrice(Leaving):
    """A mode in which the third derivative of an absolute value is given, where the first two are 0."""

    def __init__(self, third: float) -> None:
        super().__init__(0.0)
        self.third, self.depth = third, 0

    def gradient(self, function: Any, x: Any, seeded: Any) -> Any:
        self.depth = 0
        seeded(function(x))
        self.depth += 1
        return np.full_like(x, self.third if self.depth == 3 else 0.0)


NEAR_ZERO = Case(
    (Input("x", (1,), (-0.006236433982849121,)), Input("s", (1,), (1.5,), differentiable=False), Input("t", (1,), (174.0,))),
    (
        Op("tanh", ("x",), ("y",)),
        Grad(("y",), ("x",), ("g",), ("s",), create_graph=True, allow_unused=True),
        Grad(("g",), ("x",), ("h",), ("t",), create_graph=True, allow_unused=True),
    ),
)


class Off(Numbers):
    """A mode that is right but for so much of the second derivative of a hyperbolic tangent."""

    def __init__(self, off: float) -> None:
        super().__init__()
        self.off = off

    def gradient(self, function: Any, x: Any, seeded: Any) -> Any:
        values = function(x)
        y, seed = np.tanh(x.astype("float64")), seeded(values)[0].astype("float64")
        slope = 1.0 - y * y
        if np.array_equal(values[0], np.tanh(x)):
            return (seed * slope).astype("float32")
        return (-2.0 * 1.5 * seed * y * slope + self.off).astype("float32")


@pytest.mark.parametrize(
    ("spelled", "off", "bucket"),
    [
        ("tanh_by_factors", 2.5e-5, Bucket.AGREED),
        ("tanh_by_factors", 1e-2, Bucket.DIVERGED),
        ("tanh", 0.0, Bucket.AGREED),
        ("tanh", 2.5e-5, Bucket.DIVERGED),
    ],
)
def test_what_a_product_of_factors_leaves_of_a_second_derivative_is_bounded_where_the_adapter_says_so(
    spelled: str, off: float, bucket: Bucket
) -> None:
    engine = numbers(dialect=replace(FUNCTIONAL, spelled={"tanh": spelled}))
    engine.engine = Functional(Calls(Spelling("np", NUMPY), np), Off(off), ())
    assert bucket is verdict(engine, NEAR_ZERO).bucket


NEARLY_DIAGONAL = Case(
    (Input("x", (3, 3), (4.0, 0.01, 0.0, 0.02, 5.0, 0.01, 0.0, 0.01, 3.0), "float32"),),
    (Op("det", ("x",), ("y",)), Grad(("y",), ("x",), ("g",))),
)


@pytest.mark.parametrize(
    ("spelled", "share", "bucket"),
    [
        ("det_by_values", 3e-7, Bucket.AGREED),
        ("det_by_values", 1e-4, Bucket.DIVERGED),
        ("det", 0.0, Bucket.AGREED),
        ("det", 3e-7, Bucket.DIVERGED),
    ],
)
def test_what_singular_vectors_mix_into_every_element_of_a_gradient_is_bounded_where_the_adapter_says_so(
    spelled: str, share: float, bucket: Bucket
) -> None:
    engine = reference(FUNCTIONAL, FUNCTIONAL.not_offered)
    outcome = engine.run(NEARLY_DIAGONAL)
    (gradient,) = outcome.observations[1].values
    gradient.array[:] += np.float32(share) * np.abs(gradient.array).max()
    info = replace(engine.info, dialect=replace(FUNCTIONAL, spelled={"det": spelled}))
    assert bucket is judge(Promise(NEARLY_DIAGONAL, info), outcome).bucket


ONE_OF_THREE = Case(
    (Input("x", (3,), (1.1, 0.7, 1.3), "float64"), Input("s", (3,), (1.0, 0.0, 0.0), "float64")),
    (
        Op("prod", ("x",), ("y",), {"axis": 0, "keepdims": False}),
        grad("y", "x", "g"),
        Grad(("g",), ("x",), ("h",), ("s",), create_graph=True, allow_unused=True),
    ),
)


@pytest.mark.parametrize(
    ("spelled", "rest", "bucket"),
    [
        ("prod_by_quotient", 2e-16, Bucket.AGREED),
        ("prod_by_quotient", 1e-13, Bucket.DIVERGED),
        ("prod", 0.0, Bucket.AGREED),
        ("prod", 2e-16, Bucket.DIVERGED),
    ],
)
def test_what_a_product_over_its_factor_leaves_of_a_second_derivative_is_bounded_where_the_adapter_says_so(
    spelled: str, rest: float, bucket: Bucket
) -> None:
    engine = reference(FUNCTIONAL, FUNCTIONAL.not_offered)
    outcome = engine.run(ONE_OF_THREE)
    (second,) = outcome.observations[2].values
    assert second.array[0] == 0.0
    second.array[0] = rest
    info = replace(engine.info, dialect=replace(FUNCTIONAL, spelled={"prod": spelled}))
    assert bucket is judge(Promise(ONE_OF_THREE, info), outcome).bucket


ZEROS = [(0.0, 2.0, 3.0), (0.0, 0.0, 3.0)]
INDIVISIBLE = [*((z, 3) for z in ZEROS), ((1e-200, 1e-200, 3.0), 3), ((float("inf"), 2.0, 3.0), 2), ((1e200, 1e200, 3.0), 2)]
"""Factors of which none can be taken out of the product, and how many steps are asked: of an infinite one, no second derivative."""


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
@pytest.mark.parametrize(("factors", "steps"), INDIVISIBLE)
@pytest.mark.parametrize("framework", [FUNCTIONAL, TORCH])
def test_where_no_factor_can_be_taken_out_the_derivatives_are_the_products_of_the_others(
    framework: Any, factors: tuple[float, ...], steps: int
) -> None:
    case = Case((Input("x", (3,), factors, "float64"), ONE_OF_THREE.inputs[1]), ONE_OF_THREE.steps[:steps])
    dialects = framework, replace(framework, spelled={**framework.spelled, "prod": "prod_by_quotient"})
    plain, quotient = (reference(d, d.not_offered).run(case).observations for d in dialects)
    assert [seen.values[0].array.tolist() for seen in plain] == [seen.values[0].array.tolist() for seen in quotient]


@pytest.mark.parametrize("factors", ZEROS)
def test_a_quotient_that_is_no_number_is_told_however_the_product_is_spelled(factors: tuple[float, ...]) -> None:
    case = Case((Input("x", (3,), factors, "float64"),), ONE_OF_THREE.steps[:2])
    engine = reference(FUNCTIONAL, FUNCTIONAL.not_offered)
    outcome = engine.run(case)
    (first,) = outcome.observations[1].values
    first.array[0] = np.nan
    info = replace(engine.info, dialect=replace(FUNCTIONAL, spelled={"prod": "prod_by_quotient"}))
    assert judge(Promise(case, info), outcome).bucket is Bucket.DIVERGED


@pytest.mark.parametrize("at", [0.0, float("inf"), float("-inf")])
def test_the_quotient_has_the_values_of_the_sign(at: float) -> None:
    case = Case((Input("x", (1,), (at,), "float64"),), SECOND.steps)
    quotient, sign = (reference(d, d.not_offered).run(case).observations for d in (BY_QUOTIENT, FUNCTIONAL))
    assert [v.values[0].array.tolist() for v in sign] == [v.values[0].array.tolist() for v in quotient]


def test_no_dialect_of_this_package_has_what_other_engines_make_of_an_op() -> None:
    built_in = {name for dialect in DIALECTS.values() for name in dialect.spelled.values()} | set(catalogue())
    assert (set(), True) == (OF_OTHER_ENGINES & built_in, set(OPS) > OF_OTHER_ENGINES)
