"""The comparison: the mistakes that such comparisons are known for are not made here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from conformance.campaign.records.tally import Tally
from conformance.campaign.workers.trial import run_case
from conformance.case.case import Case, Input
from conformance.case.outcome import Blocked, Computed, Event, NotOffered, Raised, Value
from conformance.case.place import END
from conformance.case.steps import Backward, ClearGrad, Detach, Grad, Hook, Op
from conformance.compare.compare import Comparer
from conformance.compare.mismatch import ZEROS_FOR_NONE, describe
from conformance.compare.promise import Promise
from conformance.generate.scripts import DrawOptions, case_of
from conformance.judge.verdict import Bucket, judge, lacking
from conformance.report.view import view_of
from reference_impl import Category
from tests.conformance.engines import EXACT, INFO, NUMERIC, TOTAL, answer, mismatch_of
from tests.report.samples import HEADER
from tests.wrong_engines import correct

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.campaign.records import CaseRecord
    from conformance.case.outcome import Outcome

    Change = Callable[[Outcome], None]

GRAD, FIRST, SECOND = 2, 3, 4  # the calls of EXACT: grad, backward, and backward once more, which is refused
ZEROS = Value(np.zeros(3, "float32"), requires_grad=False)
LARGE = Case(
    (Input("x", (100, 100), (1.0,) * 10_000),),
    (Op("mul", ("x", "x"), ("y",)), Op("sum", ("y",), ("z",), TOTAL), Grad(("z",), ("x",), ("g",))),
    "exact",
)


def result(step: int, slot: int, make: Callable[[Any], Any]) -> Change:
    """Change one result of a step."""

    def change(outcome: Any) -> None:
        values = list(outcome.observations[step].values)
        values[slot] = make(values[slot])
        outcome.observations[step].values = tuple(values)

    return change


def held(step: int, slot: int, make: Callable[[Any], Any]) -> Change:
    """Change one ``.grad`` after a step."""

    def change(outcome: Any) -> None:
        seen = None if step is END else outcome.observations[step]
        state = list(outcome.final if seen is None else seen.state)
        state[slot] = make(state[slot])
        if seen is None:
            outcome.final = tuple(state)
        else:
            seen.state = tuple(state)

    return change


def observed(step: int, seen: Any) -> Change:
    """Replace a whole observation."""

    def change(outcome: Any) -> None:
        outcome.observations[step] = seen

    return change


def array(make: Callable[[Any], Any]) -> Callable[[Any], Value]:
    """Change the elements of a value."""
    return lambda value: Value(make(value.array), value.requires_grad)


def one_element(number: float, place: Any = 0) -> Callable[[Any], Value]:
    """Change one element of a value."""

    def make(value: Any) -> Value:
        changed = value.array.copy()
        changed[place] = number
        return Value(changed, value.requires_grad)

    return make


def flipped(value: Any) -> Value:
    return Value(value.array, not value.requires_grad)


NEXT = float(np.nextafter(np.float32(2.0), np.float32(3.0)))

DIFFERENCES: dict[str, tuple[Case, Change, tuple[int, str, str, str]]] = {
    "zeros for an absent gradient": (EXACT, result(GRAD, 1, lambda _: ZEROS), (GRAD, "absence", "absent", "present")),
    "an absent gradient for zeros": (EXACT, result(GRAD, 0, lambda _: None), (GRAD, "absence", "present", "absent")),
    "zeros for an absent .grad": (EXACT, held(FIRST, 1, lambda _: ZEROS), (FIRST, "absence", "absent", "present")),
    "an absent .grad": (EXACT, held(FIRST, 0, lambda _: None), (FIRST, "absence", "present", "absent")),
    "an absent .grad at the end": (EXACT, held(END, 0, lambda _: None), (END, "absence", "present", "absent")),
    "one unit in the last place": (EXACT, result(GRAD, 0, one_element(NEXT)), (GRAD, "value", "right", "wrong")),
    "nan for a number": (EXACT, result(GRAD, 0, one_element(np.nan)), (GRAD, "value", "right", "wrong")),
    "infinity for a number": (NUMERIC, result(3, 0, one_element(np.inf)), (3, "value", "right", "wrong")),
    "one element of many": (LARGE, result(2, 0, one_element(2.5, (73, 41))), (2, "value", "right", "wrong")),
    "a forward result": (EXACT, result(0, 0, one_element(7.0)), (0, "value", "right", "wrong")),
    "a relative error of 1e-3": (NUMERIC, result(3, 0, array(lambda a: a * a.dtype.type(1.001))), (3, "value", "right", "wrong")),
    "a wrong .grad": (EXACT, held(FIRST, 0, one_element(0.0)), (FIRST, "value", "right", "wrong")),
    "a transposed shape": (LARGE, result(2, 0, array(lambda a: a.reshape(1, 100, 100))), (2, "shape", "as its primal", "more axes")),
    "a shape that would broadcast": (EXACT, result(GRAD, 0, array(lambda a: a[None])), (GRAD, "shape", "as its primal", "more axes")),
    "a wider dtype": (EXACT, result(GRAD, 0, array(lambda a: a.astype("float64"))), (GRAD, "dtype", "float32", "float64")),
    "a flag": (EXACT, result(GRAD, 0, flipped), (GRAD, "flag", "constant", "requires_grad")),
    "a refusal where none belongs": (
        EXACT,
        observed(GRAD, Raised(Category.UNMAPPED, "no")),
        (GRAD, "error", "computed", "unmapped"),
    ),
    "no refusal where one belongs": (EXACT, observed(SECOND, Computed()), (SECOND, "error", "graph_freed", "computed")),
    "a refusal of another category": (
        EXACT,
        observed(SECOND, Raised(Category.SEED_REQUIRED, "no")),
        (SECOND, "error", "graph_freed", "seed_required"),
    ),
    "not offered": (EXACT, observed(GRAD, NotOffered("later")), (GRAD, "error", "computed", "not_offered")),
    "not tried": (EXACT, observed(GRAD, Blocked("z")), (GRAD, "error", "computed", "blocked")),
}


@pytest.mark.parametrize(("case", "change", "expected"), DIFFERENCES.values(), ids=DIFFERENCES)
def test_a_difference_is_found_where_it_is(case: Case, change: Change, expected: tuple[int, str, str, str]) -> None:
    found = mismatch_of(case, change)
    assert found is not None
    assert expected == (found.step, found.kind, found.expected, found.actual)


@pytest.mark.parametrize("case", [EXACT, NUMERIC, LARGE])
def test_a_right_answer_has_no_difference(case: Case) -> None:
    assert mismatch_of(case, lambda _: None) is None


def test_a_changed_input_is_found() -> None:
    def change(outcome: Any) -> None:
        outcome.mutated = ("x",)

    found = mismatch_of(EXACT, change)
    assert found is not None
    assert ("mutation", "elements of x changed") == (found.kind, found.detail)


def test_only_the_first_difference_is_reported() -> None:
    def change(outcome: Any) -> None:
        result(GRAD, 0, one_element(9.0))(outcome)
        result(0, 0, one_element(9.0))(outcome)

    found = mismatch_of(EXACT, change)
    assert found is not None
    assert found.step == 0


def test_what_should_be_absent_and_cannot_be_read_is_not_said_to_be_zeros() -> None:
    leaked = Value(np.empty(0), requires_grad=False, unreadable="batched")
    found = mismatch_of(EXACT, result(GRAD, 1, lambda _: leaked))
    assert found is not None
    assert ("absence", True) == (found.kind, found.detail.endswith(": batched"))


def test_the_message_says_how_many_where_and_by_how_much() -> None:
    found = mismatch_of(EXACT, result(GRAD, 0, one_element(4.5, 1)))
    assert found is not None
    assert found.detail == "g: 1 of 3 elements differ; worst at (1,): got 4.5, expected 4, off by 0.5"


def test_the_message_shows_the_element_that_broke_its_bound_and_not_the_largest_error() -> None:
    expected, actual = np.array([1e6, 1.0, np.inf]), np.array([1e6 + 1e-3, 1.1, np.inf])
    said = describe("g", expected, actual, np.array([0.5, 1e9, 0.0]))
    assert said == "g: 1 of 3 elements differ; worst at (1,): got 1.1, expected 1, off by 0.1"


def test_a_wrong_number_has_its_error_over_its_bound() -> None:
    found = mismatch_of(NUMERIC, result(len(NUMERIC.steps) - 1, 0, one_element(9.0, 0)))
    assert found is not None
    assert Promise(NUMERIC, INFO).bounds.ratio(found.actual_array, found.step, 0, "result") == found.ratio


def test_an_error_where_none_is_allowed_is_infinitely_far_beyond_its_bound() -> None:
    found = mismatch_of(EXACT, result(GRAD, 0, one_element(4.5, 1)))
    assert found is not None
    assert np.inf == found.ratio


def test_the_sign_of_a_zero_is_not_compared() -> None:
    case = Case((Input("x", (1,), (0.0,)),), (Op("mul", ("x", "x"), ("y",)), Grad(("y",), ("x",), ("g",))), "exact")
    assert mismatch_of(case, result(1, 0, one_element(-0.0))) is None


def test_what_was_compared_is_counted() -> None:
    counts = Comparer(Promise(EXACT, INFO)).run(answer(EXACT)).counts
    expected = {"ops": 2, "calls": 2, "errors": 1, "gradients": 3, "gradient_elements": 9, "absent": 3, "elements": 16, "values": 4}
    assert expected == dict(counts)


def test_nothing_after_the_first_difference_counts_as_compared() -> None:
    actual = answer(EXACT)
    result(0, 0, one_element(9.0))(actual)
    assert "gradients" not in Comparer(Promise(EXACT, INFO)).run(actual).counts


X = Input("x", (2,), (1.0, 2.0))
SQUARE = Op("mul", ("x", "x"), ("y",))


@pytest.mark.parametrize(
    ("steps", "bucket"),
    [
        ((), Bucket.NOTHING_COMPARED),
        ((SQUARE,), Bucket.NOTHING_COMPARED),
        ((SQUARE, Detach("y", ("d",))), Bucket.NOTHING_COMPARED),
        ((SQUARE, Backward(("y",))), Bucket.SAME_ERROR),
        ((Op("sum", ("x",), ("y",), TOTAL), Backward(("y",))), Bucket.AGREED),
        ((SQUARE, Grad(("y",), ("x",), ("g",), no_grad_vars=())), Bucket.NOT_OFFERED),
    ],
)
def test_a_case_ends_in_the_bucket_of_what_was_compared(steps: tuple[Any, ...], bucket: Bucket) -> None:
    case = Case((X,), steps, "exact")
    assert bucket == judge(Promise(case, INFO), answer(case)).bucket


def test_clearing_what_was_never_accumulated_compares_no_gradient() -> None:
    case = Case((X,), (ClearGrad("x"),), "exact")
    assert judge(Promise(case, INFO), answer(case)).bucket is Bucket.NOTHING_COMPARED


def record(index: int, draw: DrawOptions | None = None) -> CaseRecord:
    return run_case(case_of(3, index, draw or DrawOptions()), [correct()])


def test_the_buckets_sum_to_the_cases() -> None:
    tally = Tally(["correct"])
    for index in range(100):
        tally.add(record(index))
    assert sum(tally.ledger["correct"].values()) == 100


def test_a_case_without_a_verdict_is_a_fault_of_the_suite() -> None:
    tally = Tally(["correct", "lost"])
    tally.add(record(0))
    verdict, reasons = tally.verdict()
    assert ("suite_error", True) == (verdict, "1 case without just a verdict for each backend that it is for" in reasons)


NOTHING = Case((X,), (SQUARE,))
LACKING = (
    Case((X,), (SQUARE, Grad(("y",), ("x",), ("g",), no_grad_vars=()))),
    Case((X,), (SQUARE, Grad(("y",), ("x",), ("g",), no_grad_vars=()), Op("exp", ("g",), ("e",)), Grad(("e",), ("x",), ("h",)))),
)


def tallied(*cases: Case) -> Tally:
    tally = Tally(["correct"])
    for entry in [record(i) for i in range(8)] + [run_case(case, [correct()]) for case in cases]:
        tally.add(entry)
    return tally


def test_a_run_that_compared_too_little_is_no_result_and_says_how_the_other_cases_ended() -> None:
    much = "correct: only 80.0 % of the cases were compared; the floor is 90.0 %"
    assert ("no_result", [f"{much}; 2 nothing compared"]) == tallied(NOTHING, NOTHING).verdict()
    assert ("no_result", [f"{much}; 1 not offered; 1 nothing compared"]) == tallied(NOTHING, LACKING[0]).verdict()


def test_a_fault_of_the_suite_is_told_before_too_little_that_was_compared() -> None:
    tally = tallied(NOTHING, NOTHING)
    tally.wrong_references.append("correct-1")
    verdict, reasons = tally.verdict()
    assert ("suite_error", 2) == (verdict, len(reasons))


def test_no_case_at_all_does_not_conform() -> None:
    assert Tally(["correct"]).verdict()[0] == "no_result"


def test_the_words_of_what_is_not_offered_are_counted_by_the_cases_that_compared_nothing_for_them() -> None:
    assert {"correct": {"no_grad_vars": 2}} == tallied(*LACKING, NOTHING).lacking


def test_what_is_not_offered_beside_what_was_compared_kept_nothing_from_being_compared() -> None:
    beside = Grad(("z",), ("x",), ("h",), no_grad_vars=())
    assert {"correct": {}} == tallied(Case((X,), (Op("sum", ("x",), ("z",), TOTAL), beside, Backward(("z",))))).lacking


def test_an_op_that_no_call_goes_through_is_not_what_a_case_lacks() -> None:
    steps = (Op("exp", ("x",), ("e",)), Op("sin", ("x",), ("s",)), Op("sum", ("s",), ("z",), TOTAL), Backward(("z",)))
    assert ("op:sin",) == lacking(Case((X,), steps), ("op:exp", "op:sin"))


def test_a_record_without_its_footer_is_invalid() -> None:
    assert view_of([HEADER, record(0)]).verdict == "invalid"


# A call that must be refused for what is unreachable.

UNUSED = Case(
    (Input("x", (3,), (1.0, 2.0, 3.0)), Input("w", (3,), (4.0, 5.0, 6.0))),
    (Op("mul", ("x", "x"), ("y",)), Op("sum", ("y",), ("z",), TOTAL), Grad(("z",), ("x", "w"), ("g", "h"))),
    "exact",
)
TWICE = Value(np.array([2.0, 4.0, 6.0], "float32"), requires_grad=False)


@pytest.mark.parametrize(
    ("values", "told"),
    [((TWICE, ZEROS), True), ((TWICE, TWICE), False), ((ZEROS, ZEROS), False), ((TWICE, None), False)],
    ids=["zeros", "no zeros", "and a wrong gradient", "and nothing"],
)
def test_zeros_for_what_is_unreachable_are_told_where_all_else_is_as_promised(values: tuple[Value | None, ...], told: bool) -> None:
    def change(outcome: Any) -> None:
        outcome.observations[2] = Computed(values)

    found = mismatch_of(UNUSED, change)
    assert found is not None
    assert told is found.detail.endswith(ZEROS_FOR_NONE)


CANCELLING = Case(
    UNUSED.inputs,
    (
        Op("mul_scalar", ("x",), ("p",), {"other": 0.7}),
        Op("mul_scalar", ("x",), ("q",), {"other": 0.69999}),
        Op("sub", ("p", "q"), ("y",)),
        Op("sum", ("y",), ("z",), TOTAL),
        Grad(("z",), ("x", "w"), ("g", "h")),
    ),
)


@pytest.mark.parametrize(("factor", "told"), [(1 + 2.0**-10, True), (1.5, False)], ids=["rounded", "wrong"])
def test_a_gradient_beside_zeros_for_what_is_unreachable_is_as_promised_as_far_as_rounding_goes(factor: float, told: bool) -> None:
    def change(outcome: Any) -> None:
        slope = np.full(3, (0.7 - 0.69999) * factor, "float32")
        outcome.observations[4] = Computed((Value(slope, requires_grad=False), ZEROS))

    found = mismatch_of(CANCELLING, change)
    assert found is not None
    assert told is found.detail.endswith(ZEROS_FOR_NONE)


HOOKED = Case(
    EXACT.inputs,
    (*EXACT.steps[:2], Hook("y", ("h",), "nothing"), Grad(("z",), ("x",), ("f",), retain_graph=False), Backward(("z",))),
    "exact",
)
AGAIN = 4  # the call that is refused, of a freed graph


@pytest.mark.parametrize(("step", "differs"), [(AGAIN, False), (FIRST, True)], ids=["refused in its middle", "computed"])
def test_which_hooks_a_pass_had_called_before_it_failed_is_promised_by_nobody(step: int, differs: bool) -> None:
    outcome: Any = answer(HOOKED)
    outcome.observations[step].events = ()
    found = Comparer(Promise(HOOKED, INFO)).run(outcome)
    assert (differs, not differs) == (found.mismatch is not None, found.counts["reached_otherwise"] == 1)


@pytest.mark.parametrize(
    ("expected", "actual", "found"),
    [
        ((), (("h", 1.0),), None),
        ((("h", 1.0),), (), None),
        ((), (("elsewhere", 1.0),), ("events", "more")),
        ((), (("h", 1.0), ("h", 1.0)), ("events", "more")),
        ((("h", 1.0), ("g", 1.0)), (("h", 2.0),), ("value", "wrong")),
    ],
    ids=["one more", "one fewer", "of no value of the pass", "twice", "given a wrong number"],
)
def test_a_hook_that_ran_before_a_refusal_is_one_of_the_pass_runs_once_and_is_given_the_right_number(
    expected: tuple[tuple[str, float], ...], actual: tuple[tuple[str, float], ...], found: tuple[str, str] | None
) -> None:
    def called(events: tuple[tuple[str, float], ...]) -> Any:
        outcome: Any = answer(HOOKED)
        value = [Event(name, Value(np.full(3, number, "float32"), requires_grad=False), False) for name, number in events]
        outcome.observations[AGAIN].events = tuple(value)
        return outcome

    promise = Promise(HOOKED, INFO, called(expected))
    seen = Comparer(promise).run(called(actual)).mismatch
    assert found == (None if seen is None else (seen.kind, seen.actual))
