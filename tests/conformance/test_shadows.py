"""What a rounding is, in every dtype and at the ends of its range, and whose shadow a value is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from conformance.backends import BackendInfo
from conformance.backends.reference import reference
from conformance.case.case import Case, Input
from conformance.case.outcome import Computed
from conformance.case.queries import label
from conformance.case.steps import Grad, Op
from conformance.compare.compare import Comparer
from conformance.compare.promise import Promise
from conformance.compare.rounding import UNITS, BoundError, Bounds, is_sampled
from conformance.compare.shadow_values import ShadowValues
from conformance.generate.scripts import DrawOptions, case_of
from conformance.ops.dtypes import format_of, is_floating
from reference_impl import DIALECTS, OPS
from reference_impl.tape.primitive import Primitive
from tests.conformance.engines import INFO, NUMERIC, TOTAL, answer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.compare.history import History
    from reference_impl import Dialect

PER_DIALECT = 60


def history_of(case: Case, dialect: Dialect) -> History:
    return Promise(case, BackendInfo("other", "1.0", dialect, dialect.not_offered)).history()


def arrays_of(case: Case, outcome: Any) -> Iterator[tuple[int, int, str, Any]]:
    for step, seen in enumerate(outcome.observations):
        found = [("result", seen.values), ("grad", seen.state or ())] if isinstance(seen, Computed) else []
        for where, values in found:
            for slot, value in enumerate(values):
                if value is not None and is_floating(value.array.dtype) and value.array.size:
                    yield step, slot, where, value.array


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=lambda d: d.name)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_centre_is_the_run_in_float64(dialect: Dialect) -> None:
    draw = DrawOptions(("numeric",), static=dialect.static)
    compared = 0
    for i in range(PER_DIALECT):
        case = case_of(3, i, draw)
        if any(getattr(step, "op", "") == "rdiv_scalar" for step in case.steps):  # its number is an array, rounded to the dtype
            continue
        history = history_of(case, dialect)
        shadows, narrow = ShadowValues(history, 0, seed=0), history.outcome
        wide = reference(dialect, dialect.not_offered, widen=True).run(case)
        values = {(step, slot, where): array for step, slot, where, array in arrays_of(case, wide)}
        for step, slot, where, array in arrays_of(case, narrow):
            other = values.get((step, slot, where))
            if other is not None and not shadows.branched and _same_numbers(case):
                (centre,) = shadows.of(array)
                near = np.abs(centre - other) <= 2.0**-40 * (1 + np.abs(other))
                same = (centre == other) | (np.isnan(centre) & np.isnan(other))  # infinities have no difference
                assert (near | same).all(), (case.id, label(case, step))
                compared += 1
    assert compared > PER_DIALECT


def _same_numbers(case: Case) -> bool:
    """Whether no number is put into a narrower dtype on the way, which the run in float64 does not do."""
    putting = {"clamp", "fill", "masked_fill", "pad_constant", "cast"}
    return putting.isdisjoint(getattr(step, "op", "") for step in case.steps)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_rounding_is_relative_in_the_normal_range_and_absolute_below_it(dtype: str) -> None:
    f = format_of(dtype)
    sizes = np.array([0.0, f.least, f.tiny / 2, f.tiny, 1.0])
    assert [0.0, 2 * f.least, f.tiny / 2 + f.least, f.tiny * f.eps, f.eps] == list(f.rounding(sizes))


@pytest.mark.parametrize("size", [3.0, np.zeros(0), np.array([[2.0, 3.0]]), np.array([0.0, 1e-40, np.inf]), np.array([np.nan, 1.0])])
def test_some_roundings_are_one_of_each_element_times_as_often(size: Any) -> None:
    f = format_of("float32")
    alone = [f.rounding(np.array([one]))[0] for one in np.ravel(size)]
    assert np.array_equal(3.0 * np.array(alone), np.ravel(f.rounding(size, 3.0)), equal_nan=True)


def test_an_integer_has_no_rounding() -> None:
    assert [0.0, 0.0] == format_of("int64").rounding(np.array([0, 7])).tolist()


def narrow_then_wide(dtype: str) -> Case:
    steps = (
        Op("cast", ("x",), ("n",), {"dtype": dtype}),
        Op("sin", ("n",), ("y",)),
        Op("sin", ("x",), ("w",)),
    )
    return Case((Input("x", (3,), (0.1, 0.7, -1.3), "float64"),), steps)


def test_a_branch_in_a_wide_dtype_is_judged_by_its_own_roundings() -> None:
    bounds = Promise(narrow_then_wide("float32"), INFO).bounds
    (_, narrow), (_, wide) = (bounds.radius(step, 0, "result") for step in (1, 2))  # type: ignore[misc]
    assert (wide < 1e-7 * narrow).all()


def test_a_wide_branch_that_was_computed_in_the_narrow_dtype_is_rejected() -> None:
    case = narrow_then_wide("float32")
    wide = answer(case).observations[2].values[0].array  # type: ignore[union-attr]
    bounds = Promise(case, INFO).bounds
    assert [True, False] == [bounds.accepts(a, 2, 0, "result") for a in (wide, wide.astype(np.float32).astype(np.float64))]


@pytest.mark.skipif(np.finfo(np.longdouble).nmant == np.finfo(np.float64).nmant, reason="longdouble is float64 here")
def test_the_centre_of_a_float64_value_is_more_precise_than_float64() -> None:
    case = Case((Input("x", (2,), (0.1, 0.7), "float64"),), NUMERIC.steps)
    centre, _ = Promise(case, INFO).bounds.radius(3, 0, "result")  # type: ignore[misc]
    x = np.array([0.1, 0.7]).astype(np.longdouble)
    right = np.cos(x) * np.exp(np.sin(x))
    assert (np.abs(centre - right) < np.finfo(np.float64).eps / 64 * np.abs(right)).all()


LONG = Case(
    (Input("x", (1, 400), tuple(((-1) ** i) * (0.5 + i % 7) for i in range(400)), "float32"),), (Op("sum", ("x",), ("y",), TOTAL),)
)


def test_a_long_sum_may_be_off_by_more_than_one_rounding_of_its_terms() -> None:
    terms = LONG.inputs[0].array().ravel()
    _, radius = Promise(LONG, INFO).bounds.radius(0, 0, "result")  # type: ignore[misc]
    assert radius > 5 * UNITS * np.finfo(np.float32).eps * np.abs(terms).sum() / np.sqrt(3)


def in_order(terms: Any, dtype: str) -> Any:
    total = np.zeros((), dtype)
    for term in terms:
        total = (total + term.astype(dtype)).astype(dtype)
    return total


def test_a_sum_in_any_order_is_accepted_one_with_a_term_lost_or_in_a_coarser_dtype_is_not() -> None:
    numbers = np.random.default_rng(1).uniform(0.5, 1.5, 200).astype(np.float32)
    case = Case((Input("x", (200,), tuple(map(float, numbers)), "float32"),), (Op("sum", ("x",), ("y",), TOTAL),))
    bounds = Promise(case, INFO).bounds
    answers = [
        in_order(numbers, "float32"),
        in_order(np.sort(numbers)[::-1], "float32"),
        in_order(numbers[1:], "float32"),
        in_order(numbers, "float16").astype(np.float32),
    ]
    assert [True, True, False, False] == [bounds.accepts(a, 0, 0, "result") for a in answers]


def one(op: str, number: float, dtype: str = "float32", **attrs: Any) -> Case:
    return Case((Input("x", (1,), (number,), dtype),), (Op(op, ("x",), ("y",), attrs), Grad(("y",), ("x",), ("g",))))


@pytest.mark.parametrize(
    ("actual", "accepted"),
    [(np.inf, True), (-np.inf, False), (np.nan, False), (3.0e38, False), (0.0, False)],
)
def test_what_overflows_in_the_tested_dtype_is_infinite(actual: float, accepted: bool) -> None:
    assert accepted == Promise(one("exp", 95.0), INFO).bounds.accepts(np.array([actual], np.float32), 0, 0, "result")


def test_what_overflows_on_the_way_may_be_right_either_way_but_nothing_else_is() -> None:
    steps = (Op("square", ("x",), ("y",)), Op("mul_scalar", ("y",), ("z",), {"other": 2.0**-100}))
    bounds = Promise(Case((Input("x", (1,), (2.0**70,)),), steps), INFO).bounds
    given = [2.0**40, np.inf, 2.0**41, -np.inf, np.nan]
    assert [True, True, False, False, False] == [bounds.accepts(np.array([a], np.float32), 1, 0, "result") for a in given]


LARGEST = float(np.finfo(np.float32).max)


@pytest.mark.parametrize(("actual", "accepted"), [(LARGEST, True), (np.inf, True), (LARGEST / 2, False), (-np.inf, False)])
def test_next_to_the_largest_number_both_it_and_infinity_are_right(actual: float, accepted: bool) -> None:
    case = one("mul_scalar", LARGEST / 3, other=3.0)
    assert accepted == Promise(case, INFO).bounds.accepts(np.array([actual], np.float32), 0, 0, "result")


@pytest.mark.parametrize(("actual", "accepted"), [(1e-40, True), (0.0, True), (1e-37, False), (-1e-37, False), (np.nan, False)])
def test_below_the_smallest_normal_number_the_number_and_zero_are_right(actual: float, accepted: bool) -> None:
    case = one("mul_scalar", 1e-20, other=1e-20)
    assert accepted == Promise(case, INFO).bounds.accepts(np.array([actual], np.float32), 0, 0, "result")


def test_zero_is_not_right_where_the_number_is_normal() -> None:
    case = one("mul_scalar", 1e-18, other=1e-18)
    assert not Promise(case, INFO).bounds.accepts(np.zeros(1, np.float32), 0, 0, "result")


@pytest.mark.parametrize(("actual", "accepted"), [(np.inf, True), (np.nan, False), (-np.inf, False), (LARGEST, False)])
def test_infinity_has_no_rounding(actual: float, accepted: bool) -> None:
    case = Case((Input("x", (1, 2), (1.0, np.inf)),), (Op("logsumexp", ("x",), ("y",), {"axis": 1, "keepdims": False}),))
    assert accepted == Promise(case, INFO).bounds.accepts(np.array([actual], np.float32), 0, 0, "result")


def test_the_branch_inside_a_forward_is_that_of_the_run_too() -> None:
    steps = (Op("add_scalar", ("x",), ("y",), {"other": 0.3}), Op("hardshrink", ("y",), ("z",), {"bound": 0.8}))
    bounds = Promise(Case((Input("x", (1,), (0.5,)),), steps), INFO).bounds
    _, radius = bounds.radius(1, 0, "result")  # type: ignore[misc]
    assert bounds.near_kink
    assert (radius < 0.01).all()


def test_a_forward_that_knows_no_longdouble_is_applied_in_float64(monkeypatch: pytest.MonkeyPatch) -> None:
    def only_float64(x: Any) -> Any:
        if x.dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
            raise TypeError("array type float128 is unsupported in linalg")
        return np.sin(x)

    sin = OPS["sin"]
    assert isinstance(sin, Primitive)
    monkeypatch.setattr(sin, "forward", only_float64)
    case = Case((Input("x", (2,), (0.1, 0.7), "float64"),), NUMERIC.steps)
    assert Comparer(Promise(case, INFO)).run(answer(case)).mismatch is None
    assert Promise(case, INFO).bounds.accepts(answer(case).observations[3].values[0].array, 3, 0, "result")  # type: ignore[union-attr]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_number_moved_by_32_roundings_times_its_condition_is_rejected(dtype: str) -> None:
    """The condition of a number is the root mean square of its displacements over one rounding of it, and at least 1."""
    moved = 0
    for i in range(120):
        case = case_of(17, i, DrawOptions(("numeric",), longest=12))
        if {dtype} != {entry.dtype for entry in case.inputs}:
            continue
        bounds, outcome = Promise(case, INFO).bounds, answer(case)
        for step, slot, where, array in arrays_of(case, outcome):
            if str(array.dtype) != dtype or not np.isfinite(array).all():
                continue
            _, radius = bounds.radius(step, slot, where)  # type: ignore[misc]
            wrong = (array + 32 * radius / UNITS).astype(dtype)
            assert bounds.accepts(array, step, slot, where)
            if np.any(wrong != array):
                assert not bounds.accepts(wrong, step, slot, where), (case.id, label(case, step))
                moved += 1
    assert moved > 50


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_sampled_case_is_bounded_although_the_cheap_test_passes() -> None:
    cases = [case_of(5, i, DrawOptions(("numeric",))) for i in range(200)]
    found = {case: Comparer(Promise(case, INFO)).run(answer(case)) for case in cases}
    sampled = [case for case, c in found.items() if c.ratios]
    assert 0 < len(sampled) < len(cases) / 8
    assert not [c.bounded for c in found.values() if c.bounded]
    assert max(ratio for c in found.values() for ratio in c.ratios.values()) <= 1


def test_the_radius_does_not_span_two_branches() -> None:
    steps = (
        Op("add_scalar", ("x",), ("y",), {"other": 0.3}),
        Op("amax", ("y",), ("z",), {"axis": None, "keepdims": False}),
        Grad(("z",), ("x",), ("g",)),
    )
    case = Case((Input("x", (2,), (1.0, float(np.nextafter(np.float32(1.0), np.float32(2.0)))), "float32"),), steps)
    bounds = Promise(case, INFO).bounds
    right = answer(case).observations[2].values[0].array  # type: ignore[union-attr]
    assert bounds.near_kink
    assert [True, False] == [bounds.accepts(g, 2, 0, "result") for g in (right, np.array([0.4, 0.6], np.float32))]


@pytest.mark.parametrize("op", ["cumsum", "cumprod", "softmax", "log_softmax"])
def test_a_number_without_axes_is_bounded_as_the_only_one_on_its_axis(op: str) -> None:
    steps = (Op(op, ("x",), ("y",), {"axis": 0}), Grad(("y",), ("x",), ("g",), ("s",)))
    number, one = (Case(tuple(Input(name, shape, (0.7,)) for name in "xs"), steps, "numeric") for shape in ((), (1,)))
    for step in (0, 1):
        of_number, of_one = (Promise(case, INFO).bounds.radius(step, 0, "result") for case in (number, one))
        assert of_one is not None
        assert np.ravel(of_one).tolist() == np.ravel(of_number).tolist()


def test_no_replica_is_made_where_the_cheap_test_does(monkeypatch: pytest.MonkeyPatch) -> None:
    case = next(c for c in (case_of(5, i, DrawOptions(("numeric",))) for i in range(100)) if not is_sampled(c))
    monkeypatch.setattr(Bounds, "_upto", None)
    assert Comparer(Promise(case, INFO)).run(answer(case)).mismatch is None


def test_a_fault_of_the_judge_is_no_refusal_of_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise ZeroDivisionError("broken")

    monkeypatch.setattr(ShadowValues, "_apply", broken)
    with pytest.raises(BoundError, match=r"no bound can be derived: ZeroDivisionError: broken"):
        Promise(NUMERIC, INFO).bounds.radius(3, 0, "result")
