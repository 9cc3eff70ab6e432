"""Derived tolerances: wide enough for a right engine, too narrow for a wrong one."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from conformance.backends.reference import reference
from conformance.case.case import Case, Input
from conformance.case.files import read
from conformance.case.outcome import Computed, Raised, Value
from conformance.case.steps import Grad, Op, ops
from conformance.compare.compare import Comparer
from conformance.compare.promise import Promise
from conformance.compare.rounding import agrees_cheaply, within_units
from conformance.generate.scripts import DrawOptions
from reference_impl import TORCH
from reference_impl.tape.primitive import Observation
from tests.conformance.drawn import Drawn
from tests.conformance.engines import EXACT, INFO, NUMERIC, ROOT, TOTAL, answer

if TYPE_CHECKING:
    from conformance.case.outcome import Outcome

FLOAT32 = np.float32
BIAS_OF_NORM = ROOT / "tests/regressions/third-derivative-by-the-bias-of-a-norm-below-a-norm.json"
NARROW = {"float64": "float32", "complex128": "complex64"}


def is_plain(case: Case) -> bool:
    casts = any(op.op == "cast" for step in case.steps for op in ops(step))
    return not casts and {"float32"} == {entry.dtype for entry in case.inputs}


@functools.cache
def plain() -> list[Case]:
    """Draw the cases, and look at them, once."""
    return [case for case in Drawn(5, 300, DrawOptions(("numeric",))) if is_plain(case)]


def value(seen: Value | None) -> Value | None:
    return seen if seen is None else replace(seen, array=seen.array.astype(NARROW.get(seen.array.dtype.name, seen.array.dtype)))


def values(seen: Any) -> Any:
    return None if seen is None else tuple(value(v) for v in seen)


def rounded_late(case: Case) -> Outcome:
    """Answer as a right engine that computes in float64 and rounds its answers to float32: all of its roundings are others."""
    with np.errstate(all="ignore"):
        outcome = reference(TORCH, TORCH.not_offered, widen=True).run(case)
        for seen in outcome.observations:
            if isinstance(seen, Computed):
                seen.values = values(seen.values)
            if isinstance(seen, Computed | Raised):
                seen.state = values(seen.state)
                seen.events = tuple(replace(event, value=value(event.value)) for event in seen.events)
        outcome.final = values(outcome.final)
        outcome.mutated = ()  # widening the inputs is not changing them
    return outcome


def test_an_engine_with_other_roundings_is_accepted() -> None:
    found = [(case.id, Comparer(Promise(case, INFO)).run(rounded_late(case))) for case in plain()]
    assert not [(name, c.mismatch) for name, c in found if c.mismatch and not c.near_kink]


def test_other_roundings_are_really_other_numbers() -> None:
    finals = [(answer(case).final, rounded_late(case).final) for case in plain()]
    pairs = [(e.array, a.array) for es, xs in finals for e, a in zip(es, xs, strict=True) if e is not None and a is not None]
    assert sum(not np.array_equal(e, a, equal_nan=True) for e, a in pairs) >= 10


@pytest.mark.parametrize(("relative", "accepted"), [(0.0, True), (1e-7, True), (1e-3, False), (1.0, False)])
def test_a_relative_error_is_accepted_only_as_far_as_rounding_goes(relative: float, accepted: bool) -> None:
    bounds = Promise(NUMERIC, INFO).bounds
    centre, _ = bounds.radius(3, 0, "result")  # type: ignore[misc]
    assert accepted == bounds.accepts(centre * (1 + relative), 3, 0, "result")


@pytest.mark.parametrize(("op", "roundings", "accepted"), [("exp", 5, True), ("exp", 20, False), ("log", 20, True), ("log", 60, False)])
def test_of_a_few_roundings_that_are_bounded_the_worst_is_accepted_and_no_more(op: str, roundings: int, accepted: bool) -> None:
    steps = (Op(op, ("x",), ("y",)), Op("mul", ("y", "y"), ("z",)))
    bounds = Promise(Case((Input("x", (1,), (1.7,), "float32"),), steps), INFO).bounds
    centre, _ = bounds.radius(1, 0, "result")  # type: ignore[misc]
    assert accepted == bounds.accepts(centre * (1 + roundings * 2.0**-23), 1, 0, "result")


@pytest.mark.parametrize(
    ("dtype", "roundings", "accepted"),
    [("float64", 0.5, True), ("float64", 40, False), ("float32", 0.0, True), ("float32", 0.5, False)],
)
def test_a_number_that_where_brings_to_the_dtype_of_a_tensor_is_rounded_once(dtype: str, roundings: float, accepted: bool) -> None:
    inputs = (Input("x", (2,), (1.5, 0.25), "float32"), Input("y", (), (1.7001953125,), dtype))
    steps = (Op("where", ("x", "y"), ("z",), {"mask": [True, False]}), Op("cast", ("z",), ("w",), {"dtype": "float64"}))
    bounds = Promise(Case(inputs, steps), INFO).bounds
    assert accepted == bounds.accepts(np.array([1.5, 1.7001953125 * (1 + roundings * 2.0**-23)]), 1, 0, "result")


@pytest.mark.parametrize("image", ["x", "v"], ids=["of an image", "of what was sampled"])
def test_rounding_carries_no_point_to_the_place_before_it(image: str) -> None:
    inputs = (
        Input("x", (1, 1, 2, 3), (1.3, -0.7, 0.4, 2.1, 0.6, -1.9), "float64", True),
        Input("p", (1, 2, 2, 2), (-0.3, 0.2, 0.7, -0.6, 0.1, 0.9, -0.8, 0.3), "float64", True),
    )
    first = Op("grid_sample_bilinear", ("x", "p"), ("v",), {"align_corners": True})
    steps = (first, Op("grid_sample_bilinear", (image, "p"), ("w",), {"align_corners": True}), Op("sum", ("w",), ("z",), TOTAL))
    bounds = Promise(Case(inputs, (*steps, Grad(("z",), ("x", "p"), ("g", "h")))), INFO).bounds
    for slot in (0, 1):
        centre, radius = bounds.radius(3, slot, "result")  # type: ignore[misc]
        assert (radius < 1e-13 * abs(centre).max()).all()


@pytest.mark.parametrize("number", [2.0, 0.0])
@pytest.mark.parametrize("op", ["prod", "logsumexp", "mean", "nanmean"])
def test_a_number_that_is_reduced_along_an_axis_has_a_bound(op: str, number: float) -> None:
    steps = (Op(op, ("x",), ("y",), {"axis": 0, "keepdims": False}), Grad(("y",), ("x",), ("g",)))
    bounds = Promise(Case((Input("x", (), (number,), "float64", True),), steps), INFO).bounds
    assert (True, False) == tuple(bounds.accepts(np.array(slope), 1, 0, "result") for slope in (1.0, 1.0001))


def test_the_radius_follows_the_dtype() -> None:
    wide = Case((Input("x", (3,), (0.1, 0.7, -1.3), "float64"),), NUMERIC.steps)
    narrow_radius, wide_radius = (Promise(case, INFO).bounds.radius(3, 0, "result")[1] for case in (NUMERIC, wide))  # type: ignore[index]
    assert (wide_radius < 1e-6 * narrow_radius).all()


def test_the_radius_grows_where_a_difference_cancels() -> None:
    steps = (
        Op("add_scalar", ("x",), ("a",), {"other": 1000.0}),
        Op("add_scalar", ("a",), ("b",), {"other": -1000.0}),
        Op("mul", ("b", "b"), ("y",)),
        Op("sum", ("y",), ("z",), TOTAL),
        Grad(("z",), ("x",), ("g",)),
    )
    bounds = Promise(Case((Input("x", (1,), (0.001,)),), steps), INFO).bounds
    centre, radius = bounds.radius(4, 0, "result")  # type: ignore[misc]
    assert (radius > 0.01 * abs(centre)).all()


@pytest.mark.parametrize(("rest", "accepted"), [(0.0, True), (3e-8, True), (1e-5, False)])
def test_what_a_quotient_of_a_product_leaves_of_a_third_derivative_that_vanishes_is_bounded(rest: float, accepted: bool) -> None:
    def grad(output: str, of: str, result: str) -> Grad:
        return Grad((output,), (of,), (result,), create_graph=True, allow_unused=True)

    product = Op("scatter_reduce_prod", ("x", "y"), ("p",), {"axis": 0, "index": [0, 0]})
    steps = (product, grad("p", "y", "g"), Op("sum", ("g",), ("t",), TOTAL), grad("t", "x", "h"), grad("h", "x", "k"))
    bounds = Promise(Case((Input("x", (1,), (0.7,)), Input("y", (2,), (0.0, 0.3))), steps), INFO).bounds
    assert accepted == bounds.accepts(np.array([rest], FLOAT32), 4, 0, "result")


@pytest.mark.parametrize(("rest", "accepted"), [(0.0, True), (-3.6e-7, True), (3e-4, False)])
def test_what_a_norm_leaves_of_a_third_derivative_by_a_shift_of_its_groups_is_bounded(rest: float, accepted: bool) -> None:
    bounds = Promise(read(BIAS_OF_NORM), INFO).bounds
    assert accepted == bounds.accepts(np.array([rest, 0.0], FLOAT32), 4, 1, "result")


@pytest.mark.parametrize(
    ("numbers", "exact"),
    [((1.0, 2.0, 3.0), True), ((0.5, -0.25, 4.0), True), ((0.1, 2.0, 3.0), False), ((4097.0, 1.0, 1.0), False)],
)
def test_arithmetic_is_exact_where_all_numbers_are_short(numbers: tuple[float, ...], exact: bool) -> None:
    case = Case((Input("x", (3,), numbers),), EXACT.steps[:2], "exact")
    assert exact == Promise(case, INFO).bounds.exact


@pytest.mark.parametrize(("other", "near"), [(1.0 + 1e-7, True), (2.0, False)])
def test_a_branch_that_rounding_can_change_is_noticed(other: float, near: bool) -> None:
    steps = (
        Op("add_scalar", ("x",), ("y",), {"other": 0.3}),
        Op("amax", ("y",), ("z",), {"axis": None, "keepdims": False}),
        Grad(("z",), ("x",), ("g",)),
    )
    assert near == Promise(Case((Input("x", (2,), (1.0, other), "float32"),), steps), INFO).bounds.near_kink


def test_nobody_disturbs_the_reference_when_the_bounds_are_made() -> None:
    assert Promise(NUMERIC, INFO).bounds is not None
    assert Observation.observer is None


@pytest.mark.parametrize(
    ("expected", "actual", "agree"),
    [
        (1.0, 1.0 + 2**-22, True),
        (1.0, 1.0 + 2**-20, False),
        (0.0, 1e-30, False),
        (np.nan, np.nan, True),
        (np.inf, np.inf, True),
        (np.inf, -np.inf, False),
        (np.inf, 1.0, False),
        (1.0, np.inf, False),
        (np.nan, 1.0, False),
    ],
)
def test_the_cheap_test_allows_a_few_roundings(expected: float, actual: float, agree: bool) -> None:
    assert agree == agrees_cheaply(np.array([expected], FLOAT32), np.array([actual], FLOAT32))


@pytest.mark.parametrize(("actual", "equal"), [(np.inf, True), (-np.inf, False), (np.nan, False), (5.0, False)])
def test_infinity_has_no_roundings(actual: float, equal: bool) -> None:
    assert within_units(np.array([np.inf, 1.0]), np.array([actual, 1.0]), np.array([np.inf, 1.0])) is equal


def test_arithmetic_with_infinities_and_nan_is_exact_where_the_finite_numbers_are_short() -> None:
    case = Case((Input("x", (3,), ("inf", "nan", 1.5)),), (Op("square", ("x",), ("y",)),), "exact")
    assert not Promise(case, INFO).rounds


def test_a_finite_number_is_not_accepted_where_infinity_is_right() -> None:
    steps = (Op("exp", ("x",), ("y",)), Grad(("y",), ("x",), ("g",)))
    bounds = Promise(Case((Input("x", (1,), (1000.0,)),), steps), INFO).bounds
    assert not bounds.accepts(np.array([1.0], FLOAT32), 1, 0, "result")


@pytest.mark.parametrize(
    ("entries", "dtype", "rounds"), [(((0.3, 1.1), (1.7, 0.2)), "complex64", True), ((0.3, -1.7), "float32", False)]
)
def test_a_modulus_has_a_rounding_that_a_wider_dtype_keeps_and_an_absolute_value_has_none(
    entries: tuple[Any, ...], dtype: str, rounds: bool
) -> None:
    steps = Op("abs", ("x",), ("y",)), Op("cast", ("y",), ("z",), {"dtype": "float64"})
    bounds = Promise(Case((Input("x", (2,), entries, dtype),), steps), INFO).bounds
    found = bounds.radius(1, 0, "result")
    assert found is not None
    centre, radius = found
    assert rounds == bool((radius > np.finfo(np.float32).eps * centre).all())
