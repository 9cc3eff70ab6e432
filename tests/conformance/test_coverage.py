"""Coverage: every cell that a framework offers is drawn, and what is not compared is not counted."""

from __future__ import annotations

import functools
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from conformance.backends.reference import reference
from conformance.campaign.records.coverage import CELLS, covered, gaps, key_of, met
from conformance.case.case import Case
from conformance.case.exercise import exercise_of
from conformance.case.outcome import Computed, Raised
from conformance.case.steps import Backward, Grad
from conformance.generate.odds import Odds, ScriptOdds
from conformance.generate.scripts import DrawOptions, case_of
from reference_impl import DIALECTS
from tests.conformance.drawn import USUAL

if TYPE_CHECKING:
    from collections.abc import Iterator

CASES = 6_000
"""After the usual ones come deep ones with many roots: the default draws those, too, the rarest cell once in 20,000 cases."""
DEEP = DrawOptions(odds=Odds(scripts=ScriptOdds(deep=1.0, second_order=1.0, third_order=1.0, derivatives=(3, 4))))


def of(step: Backward | Grad, order: int) -> Iterator[str]:
    return covered(Case((), (step,)), 0, order)


@functools.cache
def drawn(index: int) -> Case:
    """Draw a case once for all dialects."""
    return USUAL[index] if index < len(USUAL) else case_of(1, index, DEEP)


def words_of(key: str) -> str:
    return key.rpartition(" @")[0]


def uncovered(name: str) -> list[str]:
    """Return the cells that no step covers which the reference ran or refused in a dialect, after as many cases as that needs."""
    dialect = DIALECTS[name]
    counts: Counter[str] = Counter()
    missing = gaps(counts, dialect.not_offered)
    wanted = set(map(words_of, missing))
    for index in range(CASES):
        case = drawn(index)
        if all(wanted.isdisjoint(met(case, number)) for number in range(len(case.steps))):
            continue  # whatever comes of it, it covers nothing that is missing
        outcome = reference(dialect, dialect.not_offered).run(case)
        facts = exercise_of(case, outcome)
        for number, seen in enumerate(outcome.observations):
            if isinstance(seen, Computed | Raised):
                counts.update(covered(case, number, facts.order_at(number)))
        missing = gaps(counts, dialect.not_offered)
        if not missing:
            break
        wanted = set(map(words_of, missing))
    return missing


@pytest.mark.parametrize("name", ["torch", "paddle"])
def test_every_cell_that_is_offered_is_drawn(name: str) -> None:
    assert uncovered(name) == []


def test_a_call_counts_at_its_order() -> None:
    assert key_of("grad create_graph=True", 2) in set(of(Grad(("y",), ("x",), ("g",), create_graph=True), 2))


def test_orders_above_the_last_column_count_in_it() -> None:
    assert set(of(Backward(("y",)), 3)) == set(of(Backward(("y",)), 6))


def test_what_a_backend_does_not_offer_is_no_gap() -> None:
    refused = {cell.needs: "it has no such parameter" for cell in CELLS if cell.needs}
    assert not [key for key in gaps(Counter(), refused) if "no_grad_vars=given" in key]


@pytest.mark.parametrize("field", ["grad_tensors", "grad_variables"])
def test_seeds_count_in_whichever_parameter_they_are_passed(field: str) -> None:
    assert key_of("backward seeds=given", 1) in set(of(Backward(("y",), **{field: ("s",)}), 1))
