"""Which switches of a dialect an engine shows: found from nothing, told where its adapter says otherwise, and never wrongly."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from conformance.backends import BackendInfo, answer
from conformance.backends.reference import reference
from conformance.clauses.shown import ASKED, Shown, shown
from conformance.mutants.conventions import EQUIVALENT, SWITCHES
from examples.engines.eager import TAPES
from examples.engines.functional import FUNCTIONAL
from examples.engines.mygrad_eager import CLEARING
from reference_impl import PADDLE, PADDLE_STATIC, TORCH, Dialect
from tests.conformance.broken_adapters import doubles
from tests.conformance.door import conformance

if TYPE_CHECKING:
    from conformance.case.outcome import Outcome

ENGINES = {"torch": TORCH, "paddle": PADDLE, "programs": PADDLE_STATIC, "tapes": TAPES, "clearing": CLEARING, "functional": FUNCTIONAL}
EAGER = ("torch", "paddle")
COMPLEX_WORDS = ("dtype:complex64", "dtype:complex128")
OPPOSITE = {"torch": PADDLE, "paddle": TORCH}


@cache
def outcomes_of(name: str) -> tuple[Outcome, ...]:
    engine = reference(ENGINES[name], ENGINES[name].not_offered)
    return tuple(answer(engine, one.case) for one in ASKED)


@cache
def seen_of(name: str, start: Dialect | None = None) -> dict[str, Shown]:
    """What an engine shows whose adapter starts from nothing, or from another dialect, but knows what is not offered."""
    does = ENGINES[name]
    said = start or Dialect("mine", static=does.static)
    return {one.field: one for one in shown(BackendInfo("mine", "1.0", said, does.not_offered), outcomes_of(name))}


@pytest.mark.parametrize("name", ENGINES)
def test_what_an_engine_does_explains_what_it_shows(name: str) -> None:
    wrong = {field: one.values for field, one in seen_of(name).items() if getattr(ENGINES[name], field) not in one.values}
    assert not wrong


@pytest.mark.parametrize("name", EAGER)
def test_from_nothing_nearly_every_switch_of_an_engine_that_offers_all_is_told_apart(name: str) -> None:
    untold = {field for field, one in seen_of(name).items() if one.untold}
    assert untold <= {"promotion", "unoffered", "inputs_run_their_node"}


@pytest.mark.parametrize(("field", "value"), [("accumulation", "nulled"), ("retaining", "every"), ("freed_refuses", "nothing")])
def test_what_small_engines_with_a_tape_do_with_gradients_and_graphs_is_found_from_nothing(field: str, value: Any) -> None:
    found = seen_of("clearing")[field]
    assert ((value,), True) == (found.values, found.otherwise)


def test_an_engine_of_real_numbers_alone_shows_what_a_factor_without_axes_decides() -> None:
    real = replace(TORCH, promotion="cast_to_widest", not_offered={**TORCH.not_offered, **dict.fromkeys(COMPLEX_WORDS, "it has none")})
    engine = reference(real, real.not_offered)
    said = BackendInfo("mine", "1.0", replace(real, promotion="inside"), real.not_offered)
    (found,) = (one for one in shown(said, [answer(engine, one.case) for one in ASKED]) if one.field == "promotion")
    assert (("cast_to_widest",), True) == (found.values, found.otherwise)


def test_an_engine_that_adds_gradients_when_a_pass_has_ended_shows_that_a_refused_pass_leaves_none() -> None:
    engine = reference(replace(TORCH, unfinished="dropped"), TORCH.not_offered)
    info = BackendInfo("mine", "1.0", TORCH, TORCH.not_offered)
    told = {one.field: one.values for one in shown(info, [answer(engine, one.case) for one in ASKED]) if one.otherwise}
    assert {"unfinished": ("dropped",)} == told


@pytest.mark.parametrize("name", EAGER)
def test_a_switch_that_an_adapter_says_wrongly_is_told_and_no_other(name: str) -> None:
    does, told = ENGINES[name], {}
    for field in SWITCHES:
        if (name, field) not in EQUIVALENT:
            start = replace(does, **{field: getattr(OPPOSITE[name], field)})
            told[field] = {other for other, one in seen_of(name, start).items() if one.otherwise}
    assert {field: {field} for field in told} == told


@pytest.mark.parametrize("name", ENGINES)
def test_nothing_is_told_of_an_adapter_that_is_right(name: str) -> None:
    assert not [field for field, one in seen_of(name, ENGINES[name]).items() if one.otherwise or not one.values]


def test_an_engine_that_does_what_no_value_says_shows_none_and_is_told_what_differs() -> None:
    engine = doubles()
    seen = {one.field: one for one in shown(engine.info, [answer(engine, one.case) for one in ASKED])}
    found = seen["duplicates"]
    assert ((), False, True) == (found.values, found.otherwise, "an input twice (d1: 2 of 2 elements differ" in found.differs)


def test_what_no_program_offers_says_nothing_of_a_switch_although_an_adapter_goes_along_with_it() -> None:
    flagged = next(one for one in ASKED if one.clause == "only_inputs")
    computed = answer(reference(TORCH, TORCH.not_offered), flagged.case)
    info = BackendInfo("mine", "1.0", FUNCTIONAL, FUNCTIONAL.not_offered)
    found = {one.field: one for one in shown(info, [computed if one is flagged else None for one in ASKED])}
    assert (True, "") == (found["only_inputs"].untold, found["only_inputs"].differs)


@pytest.mark.parametrize(("name", "offered"), [("torch", True), ("functional", False)])
def test_an_engine_says_whether_it_offers_what_a_switch_is_about(name: str, offered: bool) -> None:
    assert seen_of(name, ENGINES[name])["accumulation"].offered is offered


def test_a_case_of_which_an_engine_dies_shows_nothing() -> None:
    assert [] == shown(BackendInfo("mine", "1.0", TORCH, TORCH.not_offered), [None] * len(ASKED))


def test_learning_stops_where_an_engine_shows_another_switch_than_its_dialect_says_and_prints_it_to_paste(tmp_path: Any) -> None:
    done = conformance("learn", "--backend", "tests.conformance.broken_adapters:starts_from_nothing", "--jobs", "1", "--out", tmp_path)
    lines = {line.strip().partition(",")[0] for line in done.stdout.splitlines()}
    assert (1, True, []) == (done.returncode, {'retaining="every"', 'freed_refuses="nothing"'} <= lines, list(tmp_path.iterdir()))
