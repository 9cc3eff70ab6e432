"""What infinities and NaN become at any order: what is undefined of it, what is wrong, and engines that lose them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from conformance.backends import open_backend
from conformance.backends.reference import reference
from conformance.case.case import Case, Input, data_of
from conformance.case.exercise import orders_of
from conformance.case.place import END
from conformance.case.steps import Grad, Op
from conformance.compare.promise import Promise
from conformance.deviations.counterfactuals.kinks import shares_of_ties_added
from conformance.deviations.counterfactuals.shares import BLOCK, shares_clipped_in_blocks
from conformance.deviations.points import Point
from conformance.generate.domains import UNBOUNDED
from conformance.generate.scripts import DrawOptions, case_of
from conformance.judge.verdict import Bucket, Verdict, judge
from conformance.mutants.hunt import Hunt, run_hunt
from conformance.mutants.not_finite import MUTANTS
from conformance.ops import catalogue
from reference_impl import PADDLE as PADDLE_DIALECT
from reference_impl.tape.primitive import Domain
from tests.conformance.engines import answer

if TYPE_CHECKING:
    from pathlib import Path

PADDLE = open_backend("paddle")


# Derivatives that one kernel computes together.


def beside_an_absent_cotangent(seed: tuple[float | str, ...]) -> Case:
    """The derivative of ``seed * w`` in ``w`` and in ``x``; of the other gradient, ``seed * x``, nothing is asked."""
    inputs = (Input("x", (2,), (2.0, 3.0)), Input("w", (2,), (4.0, 5.0)), Input("s", (2,), seed), Input("t", (2,), (1.0, 1.0)))
    steps = (
        Op("mul", ("x", "w"), ("y",)),
        Grad(("y",), ("x", "w"), ("gx", "gw"), ("s",), create_graph=True),
        Grad(("gx",), ("w", "x"), ("h", "k"), ("t",), allow_unused=True),
    )
    return Case(inputs, steps, "exact")


def with_number(case: Case, slot: int, place: int, number: float) -> Verdict:
    """Judge what Paddle promises for a case, with another number in a gradient of the last step."""
    outcome = reference(PADDLE_DIALECT, PADDLE_DIALECT.not_offered).run(case)
    outcome.observations[-1].values[slot].array[place] = number  # type: ignore[union-attr]
    return judge(Promise(case, PADDLE.info), outcome)


def test_paddle_multiplies_zeros_by_an_infinite_seed_where_no_cotangent_arrives() -> None:
    found = PADDLE.run(beside_an_absent_cotangent(("inf", 1.0))).observations[-1]
    assert ["[nan  0.]"] == [str(found.values[1].array)]  # type: ignore[union-attr]


def test_whether_an_absent_cotangent_is_zeros_that_infinity_is_multiplied_by_is_undefined() -> None:
    assert with_number(beside_an_absent_cotangent(("inf", 1.0)), 1, 0, np.nan).bucket is Bucket.UNDEFINED


@pytest.mark.parametrize("number", [np.inf, 1.0])
def test_what_no_zero_times_infinity_is_stays_wrong_there(number: float) -> None:
    assert with_number(beside_an_absent_cotangent(("inf", 1.0)), 1, 0, number).bucket is Bucket.DIVERGED


def test_beside_a_finite_seed_nan_is_wrong() -> None:
    assert with_number(beside_an_absent_cotangent(("inf", 1.0)), 1, 1, np.nan).bucket is Bucket.DIVERGED


@pytest.mark.parametrize("number", [np.nan, 0.0])
def test_an_infinity_that_a_rule_hands_on_is_not_lost(number: float) -> None:
    assert with_number(beside_an_absent_cotangent(("inf", 1.0)), 0, 0, number).bucket is Bucket.DIVERGED


# What is drawn.


DRAWN = [case_of(1, index, DrawOptions(unbounded=True)) for index in range(400)]


def operands_of(case: Case, domain: Domain) -> list[np.ndarray]:  # type: ignore[type-arg]
    """The inputs that an op of a case needs to lie in a domain."""
    given = {entry.name: entry.array() for entry in case.inputs}
    return [
        given[name]
        for step in case.steps
        if isinstance(step, Op)
        for operand, name in zip(catalogue()[step.op].operands, step.operands, strict=False)
        if catalogue()[step.op].domain.get(operand) is domain and name in given
    ]


@pytest.mark.parametrize("domain", sorted(UNBOUNDED - {None}))
def test_what_is_divided_by_or_rooted_may_be_infinite(domain: Domain) -> None:
    assert any(np.isinf(array).any() for case in DRAWN for array in operands_of(case, domain))


def test_what_has_to_be_positive_is_never_minus_infinity() -> None:
    assert not any(np.isneginf(array).any() for case in DRAWN for array in operands_of(case, Domain.POSITIVE))


def test_derivatives_of_derivatives_are_asked_of_such_numbers_in_both_lanes() -> None:
    deep = {case.lane for case in DRAWN for order in orders_of(case)[0].values() if order >= 2}
    assert {"exact", "numeric"} == deep


# Shares of rows that are not finite.


def rows_of(length: int, *numbers: float) -> np.ndarray:  # type: ignore[type-arg]
    """Rows of small numbers, each with one of the given ones at one of its places."""
    made = np.random.default_rng(length).uniform(-2, 2, (length * len(numbers), length)).astype("float32")
    for row, number in enumerate(numbers * length):
        made[row, row // len(numbers)] = number
    return made


@pytest.mark.parametrize("length", [7, 8, 12, 16, 17])
def test_what_paddle_makes_of_a_row_that_is_not_finite_is_predicted(length: int) -> None:
    x = rows_of(length, np.nan, np.inf, -np.inf)
    case = Case((Input("x", x.shape, data_of(x)),), (Op("softmax", ("x",), ("y",), {"axis": -1}),))
    shown = PADDLE.run(case).observations[0].values[0].array  # type: ignore[union-attr]
    (change,) = shares_clipped_in_blocks(("softmax",))
    with change:
        predicted = answer(case).observations[0].values[0].array  # type: ignore[union-attr]
    if length < BLOCK:  # there its clip keeps NaN, and nothing is predicted
        shown, predicted = np.isnan(shown), np.isnan(predicted)
    np.testing.assert_allclose(shown, predicted, rtol=1e-5)


@pytest.mark.parametrize(("shape", "axis", "met"), [((2, 8), 1, True), ((8, 1), 0, True), ((8, 2), 0, False), ((2, 7), 1, False)])
def test_a_number_is_lost_in_a_row_that_lies_in_memory_side_by_side_and_fills_a_register(
    shape: tuple[int, ...], axis: int, met: bool
) -> None:
    data, step = ("nan", *[1.0] * (shape[0] * shape[1] - 1)), Op("softmax", ("x",), ("y",), {"axis": axis})
    cases = [Case((Input("x", shape, data, dtype),), (step,)) for dtype in ("float32", "float64")]
    point = Point("softmax", "x", "not finite, in a row of eight or more of single precision")
    assert [met, False] == [point.met(case, END) for case in cases]


# Shares of infinite seeds.


def test_all_of_an_infinite_seed_is_nan_behind_a_maximum_of_paddle_and_predicted() -> None:
    inputs = (Input("x", (3,), (3.0, 1.0, 2.0)), Input("y", (3,), (1.0, 2.0, 2.0)), Input("s", (3,), ("inf", "-inf", 2.0)))
    case = Case(inputs, (Op("maximum", ("x", "y"), ("z",)), Grad(("z",), ("x", "y"), ("g", "h"), ("s",))), "exact")
    (change,) = shares_of_ties_added(("maximum",))
    with change:
        predicted = answer(case).observations[-1]
    assert str(predicted.values) == str(PADDLE.run(case).observations[-1].values)  # type: ignore[union-attr]


# Engines that lose what is not finite.


@pytest.mark.parametrize("name", [mutant.id for mutant in MUTANTS])
def test_an_engine_that_loses_what_is_not_finite_is_found_out(name: str, tmp_path: Path) -> None:
    assert name in run_hunt(Hunt(1, 0, 400, (name,), str(tmp_path), 30.0))


@pytest.mark.parametrize("name", [mutant.id for mutant in MUTANTS])
def test_such_an_engine_is_right_where_all_numbers_are_finite(name: str) -> None:
    case = beside_an_absent_cotangent((2.0, 1.0))
    assert str(answer(case).observations) == str(open_backend(f"conformance.mutants.engines:{name}").run(case).observations)
