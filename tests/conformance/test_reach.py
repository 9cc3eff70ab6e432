"""What special points reach: an entry of lost elements excuses those that are computed from a special one, and no others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from conformance.backends import BackendInfo
from conformance.case.case import Case, Input
from conformance.case.outcome import Computed
from conformance.case.place import END
from conformance.case.steps import Backward, Custom, Grad, InPlace, Op
from conformance.compare.compare import Comparer
from conformance.compare.promise import Promise
from conformance.deviations.entries import Deviation
from conformance.deviations.points import Point
from conformance.deviations.reach import spoilt, spoilt_runs
from conformance.deviations.wrong_values import bears
from reference_impl import PADDLE, PADDLE_STATIC
from tests.conformance.engines import INFO, TOTAL, answer

if TYPE_CHECKING:
    from conformance.compare.mismatch import Mismatch

OF_PROGRAMS = BackendInfo("other", "1.0", PADDLE_STATIC, PADDLE_STATIC.not_offered)
OF_PADDLE = BackendInfo("other", "1.0", PADDLE, PADDLE.not_offered)
ZERO = Point("relu", "x", "zero")
X = Input("x", (3,), (0.0, 1.0, 2.0))
SUM = Op("sum", ("y",), ("z",), TOTAL)
GRAD = Grad(("z",), ("x",), ("g",))
RELU = Case((X,), (Op("relu", ("x",), ("y",)), SUM, GRAD), "exact")
PRODUCT = Case(
    (Input("x", (2, 2), (0.0, 1.0, 2.0, 3.0)),),
    (Op("prod", ("x",), ("y",), {"axis": 1, "keepdims": False}), SUM, GRAD),
    "exact",
)
INSIDE = Custom(("x",), ("y",), (Op("relu", ("x",), ("r",)),), ("r",), ("c",), ("c",))


def reached(case: Case, number: int, *points: Point, info: BackendInfo = INFO) -> list[bool]:
    """Return which elements of the result of a step special points reach."""
    with spoilt(points):
        seen = Promise(case, info).outcome.observations[number]
    assert isinstance(seen, Computed)
    assert seen.values[0] is not None
    return np.isnan(seen.values[0].array).ravel().tolist()


@pytest.mark.parametrize("number", [0, 2])
def test_a_point_reaches_what_stands_at_its_place(number: int) -> None:
    assert [True, False, False] == reached(RELU, number, ZERO)


def test_a_point_reaches_what_is_computed_together_with_it() -> None:
    assert [True, True, False, False] == reached(PRODUCT, 2, Point("prod", "x", "zero"))


@pytest.mark.parametrize("info", [INFO, OF_PROGRAMS])
@pytest.mark.parametrize("op", ["ceil", "floor", "round", "sign"])
def test_what_is_lost_stays_lost_behind_an_op_whose_slope_is_zero(op: str, info: BackendInfo) -> None:
    """The gradient of prod is NaN at 0 in Paddle, and that of floor multiplies what arrives by 0."""
    product = Op("prod", ("y",), ("p",), {"axis": 1, "keepdims": False})
    total = Op("sum", ("p",), ("z",), TOTAL)
    case = Case((Input("x", (2, 2), (0.0, 1.0, 2.0, 3.0)),), (Op(op, ("x",), ("y",)), product, total, GRAD))
    assert [True, True, False, False] == reached(case, 3, Point("prod", "x", "zero"), info=info)


@pytest.mark.parametrize(("x", "found"), [(0.0, True), (2.0, False)])
def test_a_power_0_keeps_what_a_power_before_it_lost(x: float, found: bool) -> None:
    zeroth = {"exponent": 0.0}
    steps = (
        *(Op("pow_scalar", ("x",), ("y",), zeroth), Op("pow_scalar", ("y",), ("z",), zeroth)),
        *(Grad(("z",), ("x",), ("g",), create_graph=True), Grad(("g",), ("y",), ("h",), allow_unused=True)),
    )
    assert [found] == reached(Case((Input("x", (), (x,)),), steps), 3, Point("pow_scalar", "x", "of infinite reciprocal cube"))


@pytest.mark.parametrize(("last", "found"), [(-0.7, [False, True]), (-0.2, [False, False])])
def test_what_is_the_rounding_of_a_difference_is_special_too(last: float, found: list[bool]) -> None:
    rest = Input("x", (3,), (0.1, 0.6, last), "float32")  # 6e-8 in the order of the reference, and 0 in another one
    case = Case((rest,), (Op("sum", ("x",), ("y",), TOTAL), Op("relu", ("y",), ("z",))), "numeric")
    runs = [run.outcome.observations[1] for run in spoilt_runs([ZERO], Promise(case, INFO))]
    assert found * 2 == [
        bool(np.isnan(seen.values[0].array)) for seen in runs if isinstance(seen, Computed) and seen.values[0] is not None
    ]


def test_a_point_reaches_the_derivative_by_the_result_that_a_derivative_was_computed_with() -> None:
    seed = Input("s", (2,), (1.0, 1.0))
    power = Op("pow", ("x", "e"), ("y",))
    first = Grad(("y",), ("e",), ("g",), ("s",), create_graph=True)
    operands = (Input("x", (2,), (0.0, 2.0)), Input("e", (2,), (2.0, 2.0)))
    case = Case((*operands, seed), (power, first, Grad(("g",), ("y",), ("h",), ("s",))), "numeric")
    runs = [run.outcome.observations[2] for run in spoilt_runs([Point("pow", "x", "zero")], Promise(case, INFO))]
    told = [np.isnan(seen.values[0].array) for seen in runs if isinstance(seen, Computed) and seen.values[0] is not None]
    assert [True, False] == np.any(told, axis=0).tolist()


def test_a_point_reaches_what_an_op_loses_that_has_a_number_for_what_was_lost_before() -> None:
    """The power 0 of what is lost is 1, and its slope 0; an engine that has the first power right loses the second all the same."""
    powers = (Op("pow_scalar", (x,), (y,), {"exponent": e}) for x, y, e in (("x", "y", 1.0), ("y", "z", 0.0)))
    first = Grad(("y", "z"), ("x",), ("g",), create_graph=True)
    case = Case((Input("x", (2,), (0.0, 2.0)),), (*powers, first, Grad(("g",), ("y",), ("h",))), "numeric")
    point = Point("pow_scalar", "x", "of infinite reciprocal cube")
    runs = [run.outcome.observations[3] for run in spoilt_runs([point], Promise(case, OF_PROGRAMS))]
    told = [np.isnan(seen.values[0].array) for seen in runs if isinstance(seen, Computed) and seen.values[0] is not None]
    assert [True, False] == np.any(told, axis=0).tolist()


def test_a_point_of_another_op_reaches_nothing() -> None:
    assert [False] * 3 == reached(RELU, 2, Point("sqrt", "x", "zero"))


@pytest.mark.parametrize(
    "case",
    [
        Case((X,), (Op("clone", ("x",), ("y",)), InPlace("relu", "y"), Op("clone", ("y",), ("c",))), "exact"),
        Case((X,), (INSIDE, Op("clone", ("y",), ("c",))), "exact"),
    ],
    ids=["in place", "in a custom function"],
)
def test_a_point_reaches_from_wherever_the_op_is_applied(case: Case) -> None:
    assert [True, False, False] == reached(case, len(case.steps) - 1, ZERO)


def test_a_point_reaches_from_an_op_of_a_program() -> None:
    assert [True, False, False] == reached(RELU, 2, ZERO, info=OF_PROGRAMS)


def test_a_point_reaches_through_an_op_that_may_run_again_although_its_graph_was_freed() -> None:
    case = Case((X,), (Op("neg", ("x",), ("y",)), SUM, GRAD, Grad(("z",), ("x",), ("h",))), "exact")
    assert [True] * 3 == reached(case, 3, Point("neg", "x", "any"))


def test_a_point_reaches_what_a_pass_comes_to_before_it_ends_at_a_freed_graph() -> None:
    made = Op("prod", ("w",), ("y",), {"axis": 0, "keepdims": False}), Op("unbind", ("x",), ("a", "b", "c"), {"axis": 0})
    case = Case((X, Input("w", (), (0.0,))), (*made, Backward(("b",)), Backward(("y", "a"))), "exact")
    answered = [run.outcome.final for run in spoilt_runs([Point("prod", "x", "zero")], Promise(case, OF_PADDLE))]
    assert any(final[1] is not None and np.isnan(final[1].array) for final in answered)


@pytest.mark.parametrize(
    ("op", "attrs", "data", "found"),
    [
        ("dropout_all", {}, ("inf", 1.0), [True, False]),
        ("nanquantile", {"q": 0.0, "axis": 0, "keepdims": False}, ("-inf", 1.0), [True]),
    ],
)
def test_a_point_reaches_the_results_of_ops_that_leave_nan_out(
    op: str, attrs: dict[str, object], data: tuple[float, ...], found: list[bool]
) -> None:
    case = Case((Input("x", (2,), data),), (Op(op, ("x",), ("y",), attrs),))
    assert found == reached(case, 0, Point(op, "x", "infinite"))


def lost(*places: int) -> Mismatch:
    """Return the difference of a gradient of relu that is NaN at some places."""
    actual = answer(RELU)
    seen = actual.observations[2]
    assert isinstance(seen, Computed)
    assert seen.values[0] is not None
    seen.values[0].array[[*places]] = np.nan
    (found, _), *_ = Comparer(Promise(RELU, INFO)).run(actual, lambda _: "known").known
    return found


@pytest.mark.parametrize(("places", "known"), [((0,), True), ((1,), False), ((0, 1), False)])
@pytest.mark.parametrize("field", ["meets", "lost"])
def test_an_entry_of_lost_elements_excuses_those_that_its_points_reach(places: tuple[int, ...], known: bool, field: str) -> None:
    says: dict[str, object] = {"signature": ("nan",), field: (ZERO,)}
    entry = Deviation("known", "other", "==1.*", ("grad",), ("value",), "because", "known", **says)  # type: ignore[arg-type]
    assert known == bears(entry, Promise(RELU, INFO), lost(*places))


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[Promise]:
    """Return the promises of which the reference ran, once for each time."""
    ran: list[Promise] = []
    run = Promise.run

    def counted(promise: Promise, *how: Any, **options: Any) -> Any:
        ran.append(promise)
        return run(promise, *how, **options)

    monkeypatch.setattr(Promise, "run", counted)
    return ran


def test_what_points_reach_is_found_once_for_all_that_ask_for_it(runs: list[Promise]) -> None:
    first, second = (
        Deviation(words, "other", "==1.*", ("grad",), ("value",), "because", words, meets=(ZERO,), unpredictable="memory")
        for words in ("one", "other")
    )
    promise, found = Promise(RELU, INFO), lost(0)
    bears(first, promise, found)
    before = len(runs)
    assert bears(second, promise, found)
    assert before == len(runs)


def test_nobody_asks_what_points_reach_where_no_wrong_element_is_as_an_entry_says(runs: list[Promise]) -> None:
    promise, found = Promise(RELU, INFO), lost(1)
    assert found.actual_array[0] == 0.0
    for points in ((), (ZERO,)):
        entry = Deviation("known", "other", "==1.*", ("grad",), ("value",), "because", "known", signature=("zeros",), meets=points)
        before = len(runs)
        assert not bears(entry, promise, found)
    assert before == len(runs)


@pytest.mark.parametrize(("places", "known"), [((0,), True), ((1,), False), ((0, 1), False)])
def test_numbers_that_nobody_can_say_are_wrong_only_where_the_points_of_their_entry_reach(places: tuple[int, ...], known: bool) -> None:
    entry = Deviation("known", "other", "==1.*", ("grad",), ("value",), "because", "known", meets=(ZERO,), unpredictable="memory")
    assert known == bears(entry, Promise(RELU, INFO), lost(*places))


@pytest.mark.parametrize(
    ("x", "off", "known"),
    [(1e-7, 2e-10, True), (1e-7, 1e-5, False), (0.5, 2e-10, False)],
    ids=["what cancellation leaves", "more than that", "where nothing cancels"],
)
def test_what_differences_leave_is_excused_and_no_more(x: float, off: float, known: bool) -> None:
    steps = (Op("i1", ("x",), ("y",)), Grad(("y",), ("x",), ("g",), create_graph=True), Grad(("g",), ("x",), ("h",)))
    case = Case((Input("x", (), (x,), "float64"),), steps)
    actual = answer(case)
    seen: Any = actual.observations[2]
    seen.values[0].array[...] += off
    (found, _), *_ = Comparer(Promise(case, INFO)).run(actual, lambda _: "known").known
    says: dict[str, Any] = {"above": ("i1",), "signature": ("off by roundings of differences",)}
    entry = Deviation("known", "other", "==1.*", ("grad",), ("value",), "because", "known", **says)
    assert known == bears(entry, Promise(case, INFO), found)


@pytest.mark.parametrize(("share", "known"), [(3e-7, True), (1e-4, False)], ids=["what singular vectors mix", "more than that"])
def test_what_singular_vectors_mix_is_excused_and_no_more(share: float, known: bool) -> None:
    matrix = Input("x", (3, 3), (4.0, 0.01, 0.0, 0.02, 5.0, 0.01, 0.0, 0.01, 3.0), "float32")
    case = Case((matrix,), (Op("det", ("x",), ("y",)), Grad(("y",), ("x",), ("g",))))
    actual = answer(case)
    gradient: Any = actual.observations[1]
    gradient.values[0].array[...] += np.float32(share) * np.abs(gradient.values[0].array).max()
    (found, _), *_ = Comparer(Promise(case, INFO)).run(actual, lambda _: "known").known
    says: dict[str, Any] = {"above": ("det",), "signature": ("off by roundings of singular vectors",)}
    entry = Deviation("known", "other", "==1.*", ("grad",), ("value",), "because", "known", **says)
    assert known == bears(entry, Promise(case, INFO), found)


def test_a_value_beside_another_operand_is_met_where_both_stand() -> None:
    steps = (Op("logaddexp", ("x", "y"), ("z",)),)
    far, near = (Case((Input("x", (2, 1), (0.0, 1.0)), Input("y", (2,), (1.0, y))), steps) for y in (90.0, 2.0))
    point = Point("logaddexp", "x", "beyond exponential of y")
    assert [True, False] == [point.met(case, END) for case in (far, near)]
