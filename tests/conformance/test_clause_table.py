"""The clause table says how a backend stands to a promise, and finds an engine that breaks one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.case.steps import Backward
from conformance.clauses import CURATED, Curated
from conformance.clauses.shorthand import exact, leaf, mul, total
from conformance.clauses.table import Cell, Result, Row, Standing, Table, clause_table
from conformance.cli.pages import clauses_page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.campaign.workers.pool import Workers

CONFORMS, LACKS, DEVIATES, DIVERGES = (
    Result("a", Standing.CONFORMS),
    Result("b", Standing.NOT_OFFERED, "no such parameter"),
    Result("c", Standing.DEVIATES, "some-finding"),
    Result("d", Standing.DIVERGES, "got 1, expected 2"),
)


def row_of(clause: str, backend: str, workers: Workers, curated: Sequence[Curated] = CURATED) -> Row:
    table = clause_table((backend,), workers, [one for one in curated if one.clause == clause])
    return next(row for row in table.rows if row.id == clause)


def text_of(clause: str, backend: str, workers: Workers) -> str:
    return row_of(clause, backend, workers).cells[backend].text


@pytest.mark.parametrize(
    ("results", "text"),
    [
        ((CONFORMS, CONFORMS), "conforms"),
        ((CONFORMS, LACKS), "not offered in 1 of 2 cases (no such parameter)"),
        ((LACKS, LACKS), "not offered (no such parameter)"),
        ((CONFORMS, LACKS, DEVIATES), "deviates in 1 of 3 cases (some-finding)"),
        ((DIVERGES, DEVIATES), "diverges in 1 of 2 cases (got 1, expected 2)"),
        ((Result("a", Standing.CONFORMS, "ties"), CONFORMS), "conforms in its dialect (ties)"),
        ((), "unchecked"),
    ],
)
def test_a_clause_stands_as_the_worst_of_its_cases(results: tuple[Result, ...], text: str) -> None:
    assert text == Cell(results).text


def test_a_promise_that_is_kept_conforms(workers: Workers) -> None:
    assert text_of("PB-12", "paddle", workers) == "conforms"


def test_a_promise_of_another_dialect_conforms_by_the_switch_that_decides(workers: Workers) -> None:
    assert text_of("PB-02", "torch", workers) == "conforms in its dialect (duplicates)"


def test_a_parameter_that_a_backend_lacks_is_not_offered(workers: Workers) -> None:
    reason = "torch.autograd.grad has no such parameter; detach the tensor instead"
    assert text_of("PG-12", "torch", workers) == f"not offered ({reason})"


def test_a_promise_that_a_finding_shows_broken_deviates(workers: Workers) -> None:
    assert text_of("TB-04", "torch", workers) == "deviates in 1 of 3 cases (torch-too-many-seeds)"


def test_a_refusal_that_does_not_come_is_said_to_be_expected(workers: Workers) -> None:
    text = text_of("TB-04", "conformance.mutants.engines:seed_count_unchecked", workers)
    assert "error: expected seed_length, actual computed (" in text


@pytest.mark.parametrize(
    ("engine", "clause"),
    [
        ("conformance.mutants.engines:dropped_accumulation", "TB-05"),
        ("conformance.mutants.engines:freed_graph_unnoticed", "PB-07"),
        ("conformance.mutants.engines:dropped_fan_out", "TB-01"),
        ("conformance.mutants.engines:zeros_for_none", "PG-11"),
        ("conformance.mutants.engines:talkative", "PB-11"),
        ("tests.wrong_engines:hoarding", "TB-07"),
    ],
)
def test_an_engine_that_breaks_a_promise_diverges(workers: Workers, engine: str, clause: str) -> None:
    assert row_of(clause, engine, workers).cells[engine].standing is Standing.DIVERGES


def test_a_right_engine_keeps_what_its_dialect_promises(workers: Workers) -> None:
    name = "tests.wrong_engines:correct"
    standings = {
        row_of(clause, name, workers).cells[name].standing for clause in ("PB-11", "TB-01", "TB-05", "TB-07", "PB-07", "PG-11")
    }
    assert {Standing.CONFORMS} == standings


def test_what_no_finding_explains_is_a_difference() -> None:
    table = Table((Row("PB-01", "", "", {"torch": Cell((CONFORMS, DEVIATES, LACKS)), "paddle": Cell((DIVERGES,))}),), ())
    assert ["PB-01 d on paddle: got 1, expected 2"] == list(table.differences())


PLAIN = exact((leaf("x", 1.0, 2.0),), mul("x", "x", "y"), total("y", "z"), Backward(("z",)))


@pytest.mark.parametrize(
    ("curated", "fault"),
    [
        ([], "PB-01 has no curated case"),
        ([Curated("PB-99", "a case", PLAIN)], "PB-99 is no clause and no switch"),
        (
            [Curated("PB-01", "a case", PLAIN, {"x.grad@2": [2.0, 5.0]})],
            "PB-01 a case: the reference contradicts the document: x.grad@2 is [2. 4.], the document prints [2.0, 5.0]",
        ),
    ],
)
def test_what_the_suite_itself_lacks_or_contradicts_is_a_fault(workers: Workers, curated: list[Curated], fault: str) -> None:
    assert fault in clause_table(("reference",), workers, curated).faults


def test_the_page_has_every_clause_and_every_standing() -> None:
    cells = {"torch": Cell((CONFORMS,)), "paddle": Cell((LACKS,))}
    page = clauses_page(Table((Row("PB-01", "a promise", "a document", cells),), ()), ("torch", "paddle"), as_json=False)
    assert [] == [text for text in ("a document", "PB-01", "a promise", "conforms", "not offered (no such") if text not in page]
