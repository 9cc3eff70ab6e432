"""Every promise of the documents and every switch of the dialects has its curated cases, and they decide something."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

from conformance.case.outcome import Raised
from conformance.case.steps import kind
from conformance.clauses import CURATED, Curated
from conformance.clauses.checks import CHECKS
from conformance.clauses.dialects import CASES
from conformance.compare.promise import promised
from conformance.judge.documents import documents, promises
from reference_impl import DIALECTS, Dialect
from reference_impl.dialects.conventions import Conventions
from reference_impl.dialects.switches import SWITCHES

FIELDS = [f.name for f in fields(Dialect) if f.name != "name"]
HINTS = get_type_hints(Dialect, localns={"Callable": Callable, "Mapping": Mapping})
WORDS = {switch.field: switch for switch in SWITCHES}


def values_of(field: str) -> list[Any]:
    """Every value that a switch can take; of a table or a set, those of the dialects and an empty one."""
    if HINTS[field] is bool:
        return [False, True]
    if get_origin(HINTS[field]) is Literal:
        return list(get_args(HINTS[field]))
    filled = [getattr(dialect, field) for dialect in DIALECTS.values() if getattr(dialect, field)]
    return [type(filled[0])(), *filled]


def flips_of(curated: Curated) -> list[Any]:
    """Every other value of the switch that a case is about."""
    own = getattr(curated.dialect, curated.clause)
    return [value for value in values_of(curated.clause) if value != own]


def by_name(curated: Curated) -> str:
    return curated.name


@pytest.mark.parametrize("clause", promises())
def test_a_promise_has_a_curated_case(clause: str) -> None:
    assert clause in {one.clause for one in (*CURATED, *CHECKS)}, f"{clause} has no curated case: {promises()[clause]}"


@pytest.mark.parametrize("curated", CURATED, ids=by_name)
def test_a_curated_case_is_about_a_promise_or_a_switch(curated: Curated) -> None:
    assert curated.clause in {*promises(), *FIELDS}


def test_no_two_curated_cases_have_the_same_name() -> None:
    names = [curated.name for curated in CURATED]
    assert sorted(set(names)) == sorted(names)


@pytest.mark.parametrize("document", documents(), ids=lambda document: document.prefix)
def test_the_ids_of_a_document_are_numbered_without_a_gap(document: Any) -> None:
    expected = [f"{document.prefix}-{number:02}" for number in range(1, len(document.promises) + 1)]
    assert expected == list(document.promises)


@pytest.mark.parametrize("field", FIELDS)
def test_a_switch_has_words(field: str) -> None:
    assert field in WORDS, f"Dialect.{field} has no Switch in reference_impl.dialects.switches"


@pytest.mark.parametrize("field", FIELDS)
def test_a_switch_has_words_for_every_value(field: str) -> None:
    expected = (
        {False, True} if get_origin(HINTS[field]) in (Mapping, frozenset) or HINTS[field] is Conventions else set(values_of(field))
    )
    assert expected == set(WORDS[field].values)


@pytest.mark.parametrize("switch", SWITCHES, ids=lambda switch: switch.field)
def test_words_are_about_a_switch(switch: Any) -> None:
    assert switch.field in FIELDS


MEASURED_ALONE = {
    *("missing_cotangent", "schedule", "unoffered", "numbered"),
    *("spelled", "joined", "hidden", "reshaped", "conventions", "wider_gradient"),
}
"""What the calls refuse or go along with, and how the frameworks put their ops together: nobody writes that down."""


@pytest.mark.parametrize("switch", SWITCHES, ids=lambda switch: switch.field)
def test_somebody_says_what_a_switch_says_unless_it_is_known_to_be_measured_alone(switch: Any) -> None:
    assert (switch.field in MEASURED_ALONE) is switch.source.startswith("measure")


@pytest.mark.parametrize("field", FIELDS)
def test_a_switch_has_a_curated_case(field: str) -> None:
    assert field in {curated.clause for curated in CASES}, f"Dialect.{field} has no case in conformance.clauses.dialects"


@pytest.mark.parametrize("curated", CASES, ids=by_name)
def test_flipping_the_switch_alone_changes_what_is_expected(curated: Curated) -> None:
    unseen = [value for value in flips_of(curated) if curated.difference(**{curated.clause: value}) is None]
    assert not unseen, f"{curated.name}: the judge sees no difference if {curated.clause} is one of {unseen}"


@pytest.mark.parametrize("curated", CASES, ids=by_name)
def test_a_case_whose_switch_is_not_flipped_does_not_change(curated: Curated) -> None:
    assert curated.difference(**{curated.clause: getattr(curated.dialect, curated.clause)}) is None


REFUSALS = [(document, clause) for document in documents() for clause in document.refusals]


@pytest.mark.parametrize(("document", "clause"), REFUSALS, ids=[clause for _, clause in REFUSALS])
def test_a_clause_that_refuses_has_a_curated_case_that_is_refused_so(document: Any, clause: str) -> None:
    mine = [one for one in CURATED if one.clause == clause and one.dialect.name == document.dialect]
    seen = {
        (kind(step), found.category)
        for one in mine
        for step, found in zip(one.case.steps, promised(one.case, one.dialect).observations, strict=True)
        if isinstance(found, Raised)
    }
    assert (document.call, document.refusals[clause]) in seen
