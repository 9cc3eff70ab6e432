"""The costs of a run: nothing of its time is left out, and the figure is measured by the frameworks alone."""

from __future__ import annotations

import msgspec
import pytest

from conformance.report.costs import WAYS, over_bare, pace, rows
from tests.report.samples import FOOTER

SECONDS = {
    "wall": 10.0,
    "all": 12.0,
    "torch": 2.0,
    "paddle": 3.0,
    "reference": 1.0,
    "judge": 2.0,
    "laws": 1.0,
    "nulls": 0.5,
    "generate": 1.0,
    "bare torch": 0.1,
    "bare paddle": 0.15,
    "processes crashed": 1.5,
    "processes done": 0.5,
}
RUN = msgspec.structs.replace(
    FOOTER,
    cases=1000,
    ledger={"torch": {"agreed": 1000}, "paddle": {"agreed": 600, "same_error": 400}},
    jobs=2,
    seconds=SECONDS,
    bare={"torch": 0.001, "paddle": 0.0015},
    processes={"crashed": 3, "done": 10},
)


def test_the_figure_is_all_workers_time_over_that_of_the_frameworks_alone() -> None:
    assert over_bare(RUN) == pytest.approx(2 * 10.0 / (1000 * 0.0025))


def test_there_is_no_figure_where_a_framework_does_not_say_what_it_needs() -> None:
    assert over_bare(msgspec.structs.replace(RUN, bare={"torch": 0.001})) is None


def test_a_framework_that_no_case_was_for_does_not_spoil_the_figure() -> None:
    assert over_bare(msgspec.structs.replace(RUN, ledger={**RUN.ledger, "paddle-static": {}})) == over_bare(RUN)


def test_the_costs_add_up_to_all_the_time_that_the_workers_had() -> None:
    assert sum(spent for _, spent, _ in rows(RUN)) == pytest.approx(2 * 10.0)


def test_a_row_is_there_for_each_way_in_which_processes_ended_with_their_number() -> None:
    assert {WAYS["crashed"]: "3", WAYS["done"]: "10"} == {words: count for words, _, count in rows(RUN) if words in WAYS.values()}


def test_the_pace_has_the_rate() -> None:
    assert pace(RUN) == ["10.0 s", "100 cases/s, 2 workers"]


def test_the_pace_of_a_run_that_was_resumed_is_no_rate_of_all_its_cases() -> None:
    resumed = msgspec.structs.replace(RUN, seconds={**SECONDS, "wall": 2.0})
    assert (pace(resumed), over_bare(resumed)) == (["2.0 s since it was resumed"], None)
