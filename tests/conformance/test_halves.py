"""A run of eager backends and of programs: every case is for one half, the same one on every machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest

from conformance.campaign.options import Options
from conformance.campaign.records.tally import Tally
from conformance.campaign.run import missing
from conformance.campaign.workers.trial import run_case
from conformance.case.differentiated import differentiated
from conformance.case.queries import ops_in
from conformance.case.steps import AppendBackward
from conformance.generate.scripts import BLOCK, EAGER_BLOCKS, LATER, DrawOptions, case_of, dealt, is_program, is_unbounded
from conformance.ops import catalogue
from conformance.ops.spec import Drawn
from tests.wrong_engines import correct

if TYPE_CHECKING:
    from conformance.case.case import Input

MIXED = DrawOptions(mixed=True)
PERIOD = BLOCK * (EAGER_BLOCKS + 1)
BOTH = Options(("torch", "paddle", "paddle-static"), cases=2 * PERIOD, draw=MIXED)


def test_programs_are_the_last_block_of_every_period() -> None:
    dealt = [is_program(index, MIXED) for index in range(2 * PERIOD)]
    assert dealt == [*([False] * (PERIOD - BLOCK)), *([True] * BLOCK)] * 2


def test_a_run_of_one_half_deals_out_no_programs() -> None:
    assert not any(is_program(index, DrawOptions()) for index in range(PERIOD))


def test_an_eager_case_of_a_mixed_run_is_that_of_an_eager_run() -> None:
    assert [case_of(1, i, MIXED).id for i in range(20)] == [case_of(1, i, DrawOptions()).id for i in range(20)]


def test_a_program_of_a_mixed_run_is_that_of_a_run_of_programs() -> None:
    assert case_of(1, PERIOD - 1, MIXED).id == case_of(1, PERIOD - 1, DrawOptions(static=True)).id


def test_programs_are_drawn_where_they_are_dealt_out() -> None:
    programs = [case_of(1, index, MIXED) for index in range(PERIOD - BLOCK, PERIOD)]
    assert any(isinstance(step, AppendBackward) for case in programs for step in case.steps)


WITH_LATER = DrawOptions(mixed=True, later=LATER)
NAMED = [name for name, entry in catalogue().items() if entry.drawn is Drawn.NAMED]


def about(seed: int, count: int, options: DrawOptions = WITH_LATER) -> list[str]:
    return [op for index in range(count) if (op := dealt(seed, index, options)) is not None]


def test_no_program_is_about_an_op_that_came_later() -> None:
    assert [None] * BLOCK == [dealt(1, index, WITH_LATER) for index in range(PERIOD - BLOCK, PERIOD)]


def test_each_op_that_came_later_has_its_turn_before_one_has_the_next() -> None:
    assert sorted(NAMED) == sorted(about(1, LATER * len(NAMED), DrawOptions(later=LATER)))


def test_seeds_and_turns_have_orders_of_their_own() -> None:
    orders = about(1, 2 * LATER * len(NAMED), DrawOptions(later=LATER)) + about(2, LATER * len(NAMED), DrawOptions(later=LATER))
    assert 3 == len({tuple(orders[turn * len(NAMED) :][: len(NAMED)]) for turn in range(3)})


def test_nearly_every_script_about_an_op_has_it() -> None:
    scripts = [(op, ops_in(case_of(1, i, WITH_LATER))) for i in range(400) if (op := dealt(1, i, WITH_LATER)) is not None]
    assert sum(op in ops for op, ops in scripts) > 0.95 * len(scripts)


def test_most_scripts_about_an_op_differentiate_it() -> None:
    scripts = [
        (op, differentiated(case_of(1, i, WITH_LATER)).values()) for i in range(600) if (op := dealt(1, i, WITH_LATER)) is not None
    ]
    reached = [op for op, calls in scripts if any(op in ops for call in calls for ops in call.values())]
    assert len(reached) >= 0.8 * len(scripts)


def test_what_a_backend_does_not_take_is_not_dealt_out() -> None:
    assert not {"rfft", "logcumsumexp"} & {
        *about(1, 2000, DrawOptions(later=LATER, without=("complex64", "complex128", "op:logcumsumexp")))
    }


def test_a_run_of_the_exact_lane_is_about_exact_ops() -> None:
    assert all(catalogue()[op].exact for op in about(1, 2000, DrawOptions(("exact",), later=LATER)))


def test_the_other_scripts_are_those_of_a_run_without_ops_that_came_later() -> None:
    others = [index for index in range(40) if dealt(1, index, WITH_LATER) is None]
    assert [case_of(1, i, WITH_LATER).id for i in others] == [case_of(1, i, MIXED).id for i in others]


@pytest.mark.parametrize(("index", "half"), [(0, ("torch", "paddle")), (PERIOD - 1, ("paddle-static",)), (PERIOD, ("torch", "paddle"))])
def test_a_case_is_run_on_the_backends_of_its_half(index: int, half: tuple[str, ...]) -> None:
    assert BOTH.half(index) == half


def test_a_run_of_one_half_asks_every_backend() -> None:
    assert Options(("torch", "paddle-static")).half(PERIOD - 1) == ("torch", "paddle-static")


def test_no_range_of_cases_has_both_halves() -> None:
    ranges = list(missing(2 * PERIOD, (), BOTH.alike))
    assert [1] * len(ranges) == [len({is_program(i, MIXED) for i in range(*found)}) for found in ranges]


def test_every_case_is_in_a_range() -> None:
    ranges = missing(2 * PERIOD, {3, PERIOD}, BOTH.alike)
    assert sorted({*range(2 * PERIOD)} - {3, PERIOD}) == [i for found in ranges for i in range(*found)]


def test_a_case_without_a_verdict_of_each_backend_of_its_half_is_a_fault_of_the_suite() -> None:
    record = run_case(case_of(1, 0, DrawOptions()), [correct()])
    verdict, reasons = tallied(msgspec.structs.replace(record, verdicts={}))
    assert ("suite_error", True) == (verdict, "1 case without just a verdict for each backend that it is for" in reasons)


def test_a_backend_counts_the_cases_of_its_half_alone() -> None:
    tally = Tally(["correct", "programs"], [("correct",), ("programs",)])
    tally.add(run_case(case_of(1, 0, DrawOptions()), [correct()]))
    assert (1.0, 0.0) == (tally.compared("correct"), tally.compared("programs"))


def test_a_half_that_no_case_was_for_is_no_fault() -> None:
    tally = Tally(["correct", "programs"], [("correct",), ("programs",)])
    tally.add(run_case(case_of(1, 0, DrawOptions()), [correct()]))
    assert tally.verdict() == ("conforms", [])


def test_a_run_without_any_case_is_a_fault_for_both_halves() -> None:
    assert len(Tally(["correct", "programs"], [("correct",), ("programs",)]).verdict()[1]) == 2


def tallied(record: object) -> tuple[str, list[str]]:
    tally = Tally(["correct"])
    tally.add(record)  # type: ignore[arg-type]
    return tally.verdict()


UNBOUNDED_ONES = [index for index in range(400) if is_unbounded(index, WITH_LATER)]


def not_finite(entry: Input) -> bool:
    return not np.isfinite(entry.array()).all()


def test_one_case_in_twenty_may_have_numbers_that_are_not_finite() -> None:
    assert len(UNBOUNDED_ONES) == 400 / 20


def test_most_of_these_have_such_numbers_among_their_seeds_and_their_inputs() -> None:
    entries = [[entry for entry in case_of(1, index, WITH_LATER).inputs if not_finite(entry)] for index in UNBOUNDED_ONES]
    letters = {entry.name[0] for found in entries for entry in found}
    assert sum(map(bool, entries)) > len(UNBOUNDED_ONES) / 2
    assert {"s", "x"} <= letters


def test_programs_have_such_numbers_as_often_and_most_of_these_have_some() -> None:
    programs = DrawOptions(static=True)
    unbounded = [index for index in range(400) if is_unbounded(index, programs)]
    assert len(unbounded) == 400 / 20
    assert sum(any(map(not_finite, case_of(1, index, programs).inputs)) for index in unbounded) > len(unbounded) / 2


def test_no_other_case_has_such_numbers() -> None:
    others = [case_of(1, index, MIXED) for index in range(100) if index not in UNBOUNDED_ONES]
    assert not [case for case in others if any(map(not_finite, case.inputs))]


def test_a_case_with_such_numbers_compares_none_of_them() -> None:
    cases = [case_of(1, index, MIXED) for index in UNBOUNDED_ONES]
    assert {"exact", "numeric"} == {case.lane for case in cases}
    assert not [op for case in cases for op in ops_in(case) if catalogue()[op].numbers.ordered]


@pytest.mark.parametrize("given", [{"ops": ("add", "mul")}, {"profile": "orders"}])
def test_where_ops_or_a_profile_were_asked_for_all_numbers_are_finite(given: dict[str, Any]) -> None:
    assert not any(is_unbounded(index, DrawOptions(**given)) for index in range(400))
