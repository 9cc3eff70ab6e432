"""The canary: what a refusal leaves damaged is seen, be it a single op or a family, and nothing else is called damage."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from conformance.backends.reference import reference
from conformance.backends.registry import BUILT_IN
from conformance.campaign.records.fingerprint import fingerprint_of
from conformance.campaign.workers.backend_cache import backend
from conformance.campaign.workers.pool import Workers
from conformance.campaign.workers.trial import run_case
from conformance.case.case import Case, Input
from conformance.case.outcome import Raised
from conformance.case.steps import Backward, Op
from conformance.judge.canary import EVERY, _ailment, ailment_after, canary_of, healthy
from conformance.judge.verdict import Bucket
from conformance.laws.judging import Judging
from conformance.mutants.mutant import Breaks
from conformance.mutants.wrong_rule import rule_fault
from conformance.ops import catalogue
from reference_impl import OPS, TORCH
from tests import wrong_engines
from tests.conformance.engines import TOTAL
from tests.wrong_engines import correct

if TYPE_CHECKING:
    from conformance.backends import Backend
    from conformance.judge.canary import Ailment

FAMILIES = {row.family for row in catalogue().values()}


def refused(number: float, op: str = "exp") -> Case:
    """Return a case whose second pass is refused; each number makes another id."""
    steps = (Op(op, ("x",), ("y",)), Op("clone", ("y",), ("z",)), Backward(("z",), ("x",)), Backward(("z",), ("x",)))
    return Case((Input("x", (2,), (0.5, number)),), steps)


REFUSED = [refused(n / 16) for n in range(800)]


def negated(right: Any, *given: Any) -> Any:
    return OPS["neg"](right(*given))


def ailment(engine: Backend, case: Case, family: str = "") -> Ailment | None:
    return ailment_after(case, engine.run(case), engine, family)


def test_every_op_has_a_canary() -> None:
    assert [] == [op for op in catalogue() if canary_of(op) is None]


def is_dead_on(op: str, name: str) -> bool:
    """Ask the canary of an op on a backend, in whatever process this is called."""
    return _ailment(op, backend(name)) is not None


DEADLY = {"paddle": ["qr_triangle"]}
"""Ops of which a backend dies anyway, by the finding `paddle-qr-one-factor-crash`."""


@pytest.mark.parametrize("name", [name for name in BUILT_IN if name != "paddle-static-legacy"])
def test_every_canary_lives_on_an_engine_that_nothing_has_damaged(name: str) -> None:
    deadly = DEADLY.get(name, [])
    others = [op for op in catalogue() if op not in deadly]  # beside a death each of them would need a process of its own
    with Workers((name,), 1) as workers:
        answers = [workers.call(is_dead_on, op, name) for op in deadly]
        answers += workers.calls(is_dead_on, [(op, name) for op in others], at_once=64, good=lambda dead: not dead)
    assert deadly == [op for op, dead in zip([*deadly, *others], answers, strict=True) if dead is not False]


@pytest.fixture(scope="module")
def right() -> tuple[list[Ailment | None], set[str]]:
    """Ask a right engine after each of the refusals; return what it was found to have, and the families that were asked."""
    asked: set[str] = set()

    class Listening(wrong_engines.WrongEngine):
        def run(self, case: Case):  # type: ignore[no-untyped-def]
            asked.update(catalogue()[step.op].family for step in case.steps if isinstance(step, Op) and case not in REFUSED)
            return super().run(case)

    engine = Listening("listening")
    return [ailment(engine, case) for case in REFUSED], asked


def test_a_right_engine_is_never_ill(right: tuple[list[Ailment | None], set[str]]) -> None:
    found, _ = right
    assert {None} == set(found)


@pytest.mark.parametrize("lacking", ["step:grad", "step:backward"])
def test_a_right_engine_that_has_one_of_the_calls_alone_is_healthy(lacking: str) -> None:
    assert healthy(reference(TORCH, {**TORCH.not_offered, lacking: "there is no such call"}))


@pytest.mark.parametrize("lacking", ["step:grad", "step:backward"])
def test_an_engine_that_a_refusal_damages_is_caught_by_the_call_that_it_has(lacking: str) -> None:
    has_one_call = replace(TORCH, not_offered={**TORCH.not_offered, lacking: "there is no such call"})
    engine = Breaks("breaks_mul_after_a_refusal", rule_fault("mul", 0, negated), has_one_call)
    engine.broken = True
    assert not healthy(engine)


def test_nothing_is_asked_where_nothing_was_refused() -> None:
    engine = wrong_engines.breaks_exp_after_a_refusal()
    engine.broken = True  # type: ignore[attr-defined]
    case = Case((Input("x", (2,), (0.5, 1.0)),), (Op("sum", ("x",), ("z",), TOTAL),))
    assert ailment(engine, case) is None


def test_an_engine_that_a_refusal_damages_for_one_op_of_the_case_is_caught_at_once() -> None:
    found = ailment(wrong_engines.breaks_exp_after_a_refusal(), REFUSED[0])
    assert found is not None
    assert ("exp", "elementary") == (found.op, found.family)


def test_an_engine_that_a_refusal_damages_for_one_family_is_caught_when_the_family_has_its_turn() -> None:
    turns = [ailment(wrong_engines.breaks_reductions_after_a_refusal(), case) for case in REFUSED]
    # What is made of sums and means is ill with them, but for norms, which have rules of their own.
    summed = {
        "reduction",
        "pooling",
        "nn",
        "segments",
        "covariance",
        "cross_entropies",
        "losses",
        "entropies",
        "products",
        "distances",
        "contractions",
        "spectra",
        "statistics",
        "margins",
        "alignments",
        "targets",
    }
    assert summed == {found.family for found in turns if found is not None}
    assert any(found is None for found in turns)


def test_every_family_has_its_turn(right: tuple[list[Ailment | None], set[str]]) -> None:
    _, asked = right
    assert asked == FAMILIES


def test_all_can_be_asked_at_once() -> None:
    assert None not in [ailment(wrong_engines.breaks_reductions_after_a_refusal(), case, EVERY) for case in REFUSED[:3]]


def test_a_case_that_poisons_is_asked_again_about_the_family_that_was_ill() -> None:
    engine = wrong_engines.breaks_reductions_after_a_refusal
    first, ill = next((case, found) for case in REFUSED if (found := ailment(engine(), case)) is not None)
    name = engine().info.name
    fingerprint = fingerprint_of(name, run_case(first, [engine()]).verdicts[name])
    again = [fingerprint_of(name, run_case(c, [engine()], fingerprint.judging(Judging())).verdicts[name]) for c in REFUSED[:5]]
    assert (Bucket.DIVERGED, "poison", ill.family) == (fingerprint.bucket, fingerprint.kind, fingerprint.where)
    assert [fingerprint] * 5 == again


def test_an_adapter_that_breaks_after_a_refusal_is_ill_and_costs_no_run() -> None:
    class Raising(wrong_engines.WrongEngine):
        def run(self, case: Case):  # type: ignore[no-untyped-def]
            if case == canary_of("exp"):
                raise RuntimeError("no more")
            return super().run(case)

    found = ailment(Raising("raising"), REFUSED[0])
    assert found is not None
    assert ("exp", "RuntimeError: no more") == (found.op, found.detail)
    assert any(isinstance(seen, Raised) for seen in correct().run(REFUSED[0]).observations)
