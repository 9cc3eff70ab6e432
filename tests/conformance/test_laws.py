"""Laws: right engines keep them, an engine that breaks one is caught by that one, and what a campaign makes of it."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from conformance.backends import BackendInfo
from conformance.backends.reference import reference
from conformance.campaign.findings.explain import explain_case
from conformance.campaign.findings.shrink import shrink_case
from conformance.campaign.options import Options
from conformance.campaign.records import CaseRecord, FindingRecord, Footer
from conformance.campaign.records.files import read
from conformance.campaign.records.fingerprint import fingerprint_of
from conformance.campaign.run import run_campaign
from conformance.campaign.workers.pool import Workers
from conformance.campaign.workers.trial import run_case
from conformance.case.case import Case, Input
from conformance.case.outcome import Computed, Event, Outcome, Raised, Value
from conformance.case.steps import Backward, Custom, Detach, Grad, Hook, InPlace, Op
from conformance.generate.scripts import DrawOptions, case_of
from conformance.laws.judging import SHARE, Judging, Sampling, times_as_large
from conformance.laws.registry import LAWS, broken_laws, try_laws
from conformance.laws.relation import Absent, Evidence, Linear, Place, Same, Status, Term
from conformance.laws.script import Alike
from conformance.laws.subject import ObservedCase, subject_of
from conformance.mutants.registry import mutant
from reference_impl import DIALECTS, PADDLE, PADDLE_STATIC, TORCH, Category
from tests import lawless_engines
from tests.conformance.door import conformance
from tests.conformance.drawn import Drawn
from tests.conformance.engines import EXACT, INFO, NUMERIC, TOTAL
from tests.wrong_engines import correct

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from conformance.backends import Backend
    from conformance.campaign.records import Record

LAWS_ONLY = Judging(Sampling.EVERY, laws_only=True, timeout=60.0)
DERIVED = (Op("sum", ("y",), ("z",), TOTAL), Grad(("z",), ("x",), ("g",), create_graph=True), Grad(("g",), ("x",), ("h",), ("x",)))
CASES = Drawn(3, 250)
WITH_COS = Drawn(3, 30, DrawOptions(("numeric",), ("cos", "mul", "add")))
WITH_SIN = Drawn(3, 30, DrawOptions(("numeric",), ("sin", "mul", "add"), static=True))
SUMS = Drawn(3, 30, DrawOptions(("numeric",), ("sum", "mean", "exp", "mul")))
COMPLEX = Drawn(3, 60, DrawOptions(complexes=1.0))

BREAKERS = {
    "squared_seeds": ("linear-seed", CASES[:40]),
    "last_root_only": ("sum-of-outputs", CASES[:40]),
    "dropped_accumulation": ("accumulation", CASES[:40]),
    "inputs_ignored": ("projection", CASES[:80]),
    "no_grad_vars_ignored": ("no-grad-vars", CASES[:120]),
    "create_graph_doubles": ("flags", CASES[:40]),
    "one_sided_mul": ("hessian", CASES[:120]),
    "doubled_pushforward": ("adjoint", CASES[:40]),
    "counts_ops": ("dead-branches", CASES[:40]),
    "looks_at_the_first_op": ("build-order", CASES[:40]),
    "seeds_used_up": ("no-mutation", CASES[:40]),
    "restless": ("repeatable", CASES[:40]),
    "flipped_cos": ("slope", WITH_COS),
    "flipped_cos_by_backward": ("slope", WITH_COS),
    "flipped_programs": ("slope", WITH_SIN),
}


def engine(name: str) -> Backend:
    made = getattr(lawless_engines, name, correct if name == "correct" else None)
    return mutant(name).open() if made is None else made()


def answers(backend: Backend, law: str, cases: Sequence[Case]) -> Iterator[Status]:
    return (t.answer.status for case in cases for t in try_laws(case, backend, backend.run(case), [law]))


def test_every_law_has_an_engine_that_breaks_it() -> None:
    assert set(LAWS) == {law for law, _ in BREAKERS.values()}


@pytest.mark.parametrize("name", BREAKERS)
def test_an_engine_that_breaks_a_law_is_caught_by_that_law(name: str) -> None:
    law, cases = BREAKERS[name]
    assert Status.BROKEN in answers(engine(name), law, cases)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("correct", "held"), ("atomic", "broken"), ("declared_atomic", "held"), ("declared_restless", "broken")],
)
def test_an_engine_is_as_repeatable_as_it_says(name: str, expected: str) -> None:
    found = list(answers(engine(name), "repeatable", SUMS))
    assert expected == (Status.BROKEN if Status.BROKEN in found else max(set(found), key=found.count))


@functools.cache
def reference_ran(dialect: str) -> tuple[Backend, list[Outcome]]:
    """Run the cases on the reference, once for all laws."""
    backend = reference(DIALECTS[dialect], DIALECTS[dialect].not_offered)
    return backend, [backend.run(case) for case in CASES]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("law", LAWS)
def test_the_reference_breaks_no_law(law: str, dialect: str) -> None:
    backend, outcomes = reference_ran(dialect)
    tried = (t for case, outcome in zip(CASES, outcomes, strict=True) for t in try_laws(case, backend, outcome, [law]))
    found = {t.answer.status for t in tried}
    assert Status.BROKEN not in found
    assert Status.HELD in found or (law, dialect) == ("no-grad-vars", "torch")


@pytest.mark.parametrize("law", LAWS)
def test_laws_hold_for_complex_numbers(law: str) -> None:
    found = list(answers(reference(PADDLE, PADDLE.not_offered), law, COMPLEX))
    assert Status.BROKEN not in found
    assert Status.HELD in found


def test_a_law_notices_that_a_factor_was_not_conjugated() -> None:
    wrong = mutant("mul-x-not_conjugated").open()
    assert Status.BROKEN in answers(wrong, "slope", [case_of(3, i, DrawOptions(("numeric",), complexes=1.0)) for i in range(120)])


@pytest.mark.parametrize("lacking", ["step:grad", "backward.retain_graph"])
def test_a_right_engine_with_backward_alone_has_the_slope_of_its_own_values(lacking: str) -> None:
    words = {**TORCH.not_offered, "step:grad": "there is backward alone", lacking: "there is backward alone"}
    found = set(answers(reference(TORCH, words), "slope", [*WITH_COS, *COMPLEX]))
    assert (True, False) == (Status.HELD in found, Status.BROKEN in found)


@pytest.mark.parametrize(("at", "status"), [(0.0, "unsettled"), (1.0, "held")])
def test_kinks_that_cancel_leave_the_slope_unsettled_at_the_point_alone(at: float, status: str) -> None:
    size, sign = Op("abs", ("x",), ("a",)), Grad(("a",), ("x",), ("s",), create_graph=True)
    case = Case((Input("x", (), (at,)),), (size, sign, Op("mul", ("s", "a"), ("y",)), Grad(("y",), ("x",), ("g",))))
    backend = reference(TORCH, TORCH.not_offered)
    assert status == list(answers(backend, "slope", [case]))[-1]


def test_the_static_half_of_the_reference_breaks_no_law() -> None:
    backend = reference(PADDLE_STATIC, PADDLE_STATIC.not_offered)
    programs = [case_of(3, i, DrawOptions(static=True)) for i in range(40)]
    assert not [(case.id, broken) for case in programs if (broken := broken_laws(case, backend))]


@pytest.mark.parametrize("name", ["torch", "paddle"])
def test_the_frameworks_break_no_law_on_hundreds_of_cases(name: str, tmp_path: Path) -> None:
    footer = run_campaign(Options((name,), 200, seed=4, out=tmp_path, judging=LAWS_ONLY))
    tried = {law: sum(counts.values()) for law, counts in footer.laws[name].items()}
    assert ("conforms", 0) == (footer.verdict, sum(counts.get("broken", 0) for counts in footer.laws[name].values()))
    assert set(LAWS) - ({"no-grad-vars"} if name == "torch" else set()) == {law for law, count in tried.items() if count >= 3}


X = Input("x", (2,), (1.0, 2.0))
S = Input("s", (2,), (1.0, -1.0), differentiable=False)
SQUARE = Op("mul", ("x", "x"), ("y",))
ASK = Grad(("y",), ("x",), ("g",), ("s",))


@pytest.mark.parametrize(
    ("law", "case"),
    [
        ("linear-seed", Case((X, S), (SQUARE, InPlace("mul_scalar", "y", attrs={"other": 2.0}), ASK), "exact")),
        ("linear-seed", Case((X, S), (Custom(("x",), ("y",), (Op("neg", ("x",), ("a",)),), ("a",), ("c",), ("c",)), ASK), "exact")),
        ("hessian", Case((X, S), (Detach("x", ("d",)), Op("mul", ("x", "d"), ("y",)), ASK), "exact")),
        ("slope", Case((X, S), (Detach("x", ("d",)), Op("mul", ("x", "d"), ("y",)), ASK))),
        ("slope", Case((X, S), (SQUARE, ASK), "exact")),
        ("no-grad-vars", Case((X, S), (SQUARE, ASK), "exact")),
        ("build-order", Case((X, S), (SQUARE, ASK), "exact")),
        ("sum-of-outputs", Case((X, S), (SQUARE, ASK), "exact")),
        ("no-mutation", Case((X, S), (SQUARE,), "exact")),
    ],
)
def test_a_law_is_not_tried_where_it_says_nothing(law: str, case: Case) -> None:
    assert not [*answers(reference(TORCH, TORCH.not_offered), law, [case])]


def test_a_trial_is_the_same_every_time() -> None:
    backend = reference(TORCH, TORCH.not_offered)
    seen = [[(t.step, t.answer) for t in try_laws(CASES[0], backend, backend.run(CASES[0]), list(LAWS))] for _ in range(2)]
    assert seen[0] == seen[1]


PLACES = [Place(0, 0, i) for i in range(3)]


def evidence(*arrays: Any, lane: Any = "exact", case: Case = EXACT) -> Evidence:
    values = tuple(None if a is None else Value(np.array(a, np.float32), False) for a in arrays)
    return Evidence([Case(case.inputs, case.steps, lane)], [Outcome([Computed(values)], ())], INFO)


@pytest.mark.parametrize(
    ("arrays", "status"),
    [
        (([3.0], [1.0], [2.0]), "held"),
        (([3.0], None, [3.0]), "held"),
        ((None, None, None), "empty"),
        (([], [], []), "empty"),
        (([3.0, 0.0], [1.0], [2.0]), "broken"),
        (([3.5], [1.0], [2.0]), "broken"),
        (([np.nan], [1.0], [2.0]), "unsettled"),
    ],
)
def test_a_sum_is_judged_with_absent_as_zero(arrays: Any, status: str) -> None:
    relation = Linear((Term(PLACES[0]), Term(PLACES[1], -1.0), Term(PLACES[2], -1.0)))
    assert status == relation.settle(evidence(*arrays)).status


@pytest.mark.parametrize(
    ("seen", "status"),
    [
        (functools.partial(Raised, Category.NOT_IMPLEMENTED, "no second derivative", None), "held"),
        (functools.partial(Computed, (), None), "broken"),
    ],
)
def test_a_pass_calls_the_same_hooks_every_time_unless_it_fails(seen: Any, status: str) -> None:
    twice = [Outcome([seen(events)], ()) for events in ((Event("h"),), ())]
    assert status == Alike(((0, 0),), events=True).settle(Evidence([EXACT, EXACT], twice, INFO)).status


@pytest.mark.parametrize(
    ("seen", "status"),
    [
        (functools.partial(Raised, Category.NOT_IMPLEMENTED, "no second derivative"), "held"),
        (functools.partial(Computed, ()), "broken"),
    ],
)
def test_a_pass_leaves_the_same_gradients_every_time_unless_it_fails(seen: Any, status: str) -> None:
    twice = [Outcome([seen(state, ())], state) for state in ((Value(np.ones(1), requires_grad=False),), (None,))]
    assert status == Alike(((0, 0),), events=True).settle(Evidence([EXACT, EXACT], twice, INFO)).status


def test_an_inner_product_weighs_every_element() -> None:
    relation = Linear((Term(PLACES[0], pairing=np.array([1.0, 2.0])), Term(PLACES[1], -1.0, pairing=np.array([3.0]))))
    assert ["held", "broken"] == [relation.settle(evidence([1.0, x], [1.0])).status for x in (1.0, 1.5)]


@pytest.mark.parametrize(
    ("one", "other", "status"),
    [
        ([1.0, 2.0], [1.0, 2.0], "held"),
        ([np.nan], [np.nan], "held"),
        ([1.0], None, "broken"),
        (None, None, "empty"),
        ([1.0], [[1.0]], "broken"),
        ([1.0], [1.0000001], "broken"),
        ([1.0], [np.inf], "unsettled"),
    ],
)
def test_the_same_is_the_same_in_absence_shape_and_elements(one: Any, other: Any, status: str) -> None:
    assert status == Same(PLACES[0], PLACES[1]).settle(evidence(one, other)).status


def test_rounding_is_allowed_for_in_the_numeric_lane_as_far_as_it_goes() -> None:
    place = Place(0, 3, 0)
    right = reference(TORCH, TORCH.not_offered).run(NUMERIC)
    found = []
    for relative in (0.0, 1e-7, 1e-3):
        gradient = right.observations[3].values[0].array  # type: ignore[union-attr]
        moved = Outcome([*right.observations[:3], Computed((Value(np.float32(gradient * (1 + relative)), False),))], ())
        found.append(Same(place, Place(1, 3, 0)).settle(Evidence([NUMERIC, NUMERIC], [right, moved], INFO)).status)
    assert ["held", "held", "broken"] == found


@pytest.mark.parametrize(
    ("categories", "status"),
    [
        ((Category.GRAPH_FREED, Category.GRAPH_FREED), "empty"),
        ((Category.GRAPH_FREED, None), "broken"),
        ((Category.NOT_IMPLEMENTED, None), "empty"),
    ],
)
def test_a_refusal_is_judged_by_whether_it_is_one_of_all(categories: Any, status: str) -> None:
    right = Computed((Value(np.ones(1), False),))
    outcome = Outcome([right if c is None else Raised(c, "") for c in categories], ())
    found = Evidence([EXACT], [outcome], INFO)
    assert status == Same(Place(0, 0, 0), Place(0, 1, 0)).settle(found).status


def test_what_was_not_asked_for_must_be_absent() -> None:
    assert ["held", "broken"] == [Absent(PLACES[0]).settle(evidence(array)).status for array in (None, [0.0])]


OF_MUL = DrawOptions(ops=("mul", "add"))
LAWLESS = "tests.lawless_engines:one_sided_mul"


def named(name: str) -> Backend:
    wrong = engine(name)
    wrong.info = BackendInfo(f"tests.lawless_engines:{name}", "1", TORCH, TORCH.not_offered)
    return wrong


def lawless_case(name: str, law: str) -> Case:
    wrong = named(name)
    buckets = ((c, run_case(c, [wrong]).verdicts[wrong.info.name].bucket) for c in CASES)
    return next(c for c, bucket in buckets if bucket == "agreed" and law in broken_laws(c, wrong))


def test_a_broken_law_is_a_divergence_where_all_else_agrees() -> None:
    case = lawless_case("one_sided_mul", "hessian")
    record = run_case(case, [named("one_sided_mul")], Judging(law="hessian"))
    verdict = record.verdicts[LAWLESS]
    assert ("diverged", "law", "hessian") == (verdict.bucket, verdict.mismatch.kind, verdict.mismatch.where)
    assert {LAWLESS: {"hessian": "broken"}} == record.laws


def test_laws_change_no_verdict_on_a_case_that_differs_already() -> None:
    alone, beside = ([run_case(c, [engine("flipped_cos")], Judging(law=law)).verdicts for c in WITH_COS] for law in ("", "slope"))
    differing = [i for i, verdicts in enumerate(alone) if verdicts["flipped_cos"].mismatch is not None]
    assert differing
    assert [alone[i] for i in differing] == [beside[i] for i in differing]


def test_one_law_is_tried_on_a_share_of_the_cases() -> None:
    records = [run_case(c, [engine("correct")], Judging(Sampling.SOME)) for c in CASES[:100]]
    counts = [len(r.laws.get("correct", {})) for r in records]
    assert {0, 1} == set(counts)
    assert 50 <= SHARE * sum(counts) <= 150


def test_every_law_has_its_turn() -> None:
    records = [run_case(c, [engine("correct")], Judging(Sampling.SOME)) for c in CASES]
    assert set(LAWS) - {"no-grad-vars"} == {law for r in records for law in r.laws.get("correct", {})}


@pytest.fixture(scope="module")
def lawless(tmp_path_factory: pytest.TempPathFactory) -> list[Record]:
    """Run a campaign by laws alone on an engine that breaks one, and none of its answers wrong at first order."""
    out = tmp_path_factory.mktemp("lawless")
    run_campaign(Options((LAWLESS,), 20, seed=3, draw=OF_MUL, out=out, judging=LAWS_ONLY))
    return list(read(out / "run.ndjson"))


def test_laws_alone_find_an_engine_that_breaks_one(lawless: list[Record]) -> None:
    footer = lawless[-1]
    assert isinstance(footer, Footer)
    assert "diverges" == footer.verdict
    assert footer.laws[LAWLESS]["hessian"]["broken"] >= 1


def test_laws_alone_never_ask_the_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.compare.promise.reference", None)
    record = run_case(EXACT, [engine("correct")], LAWS_ONLY)
    assert ("agreed", {"held"}) == (record.verdicts["correct"].bucket, set(record.laws["correct"].values()))


def test_a_finding_of_a_law_is_shrunk_and_still_breaks_it(lawless: list[Record]) -> None:
    found = next(r for r in lawless if isinstance(r, FindingRecord) and r.mismatch and r.mismatch.where == "hessian")
    assert ("law", "broken") == (found.mismatch.kind, found.mismatch.actual)
    assert len(found.case.steps) < len(case_of(3, found.index, OF_MUL).steps)


def test_a_replay_says_which_law_broke() -> None:
    case = lawless_case("one_sided_mul", "hessian")
    with Workers((LAWLESS,), 1) as workers:
        tried = workers.call(explain_case, case, LAWLESS, Judging(Sampling.EVERY)).laws
        hessian = Judging(law="hessian", timeout=60.0)
        fingerprint = fingerprint_of(LAWLESS, workers.call(explain_case, case, LAWLESS, hessian).verdict)
        small = shrink_case(workers, case, fingerprint, hessian, math.inf).case
        again = fingerprint_of(LAWLESS, workers.call(explain_case, small, LAWLESS, hessian).verdict)
    assert ("hessian", "broken") in {(record.law, record.status) for record in tried}
    assert (fingerprint, True) == (again, len(small.steps) <= len(case.steps))


def test_a_backward_call_is_a_subject_too() -> None:
    case = Case((X, S), (SQUARE, Backward(("y",), ("s",))), "exact")
    assert [Status.HELD] == [*answers(reference(TORCH, TORCH.not_offered), "linear-seed", [case])]


def test_a_derivative_where_a_hook_answered_has_no_subject() -> None:
    answered = Case(EXACT.inputs, (*EXACT.steps[:1], Hook("y", ("k",), "scaled", factor=2.0), *DERIVED), "exact")
    quiet = Case(EXACT.inputs, (*EXACT.steps[:1], Hook("y", ("k",), "nothing"), *DERIVED), "exact")
    subjects = [subject_of(ObservedCase(case, engine("correct").run(case), INFO, 0), len(case.steps) - 1) for case in (answered, quiet)]
    assert [True, False] == [subject is None for subject in subjects]


@pytest.mark.parametrize(("asked", "most"), [("none", 0), ("some", 1), ("all", 12)])
def test_a_run_tries_as_many_laws_on_a_case_as_it_is_asked_to(asked: str, most: int, tmp_path: Path) -> None:
    conformance("run", "--backends", "reference", "--cases", "40", "--jobs", "1", "--laws", asked, "--out", tmp_path)
    cases = [record for record in read(tmp_path / "run.ndjson") if isinstance(record, CaseRecord)]
    assert most == max(len(record.laws.get("reference", ())) for record in cases)


@pytest.mark.parametrize(("asked", "most"), [("none", 0), ("some", 1), ("all", 3)])
def test_a_run_judges_as_many_null_pairs_on_a_case_as_it_is_asked_to(asked: str, most: int, tmp_path: Path) -> None:
    conformance("run", "--backends", "reference", "--cases", "40", "--jobs", "1", "--nulls", asked, "--out", tmp_path)
    cases = [record for record in read(tmp_path / "run.ndjson") if isinstance(record, CaseRecord)]
    assert most == max(len(record.nulls) for record in cases)


@pytest.mark.parametrize(("results", "times"), [(1, 1), (120, 2)])
def test_a_case_of_few_steps_with_many_gradients_may_take_as_long_as_one_of_many_steps(results: int, times: int) -> None:
    leaves = tuple(f"x{i}" for i in range(results))
    call = Grad(("y",), leaves, tuple(f"g{i}" for i in range(results)))
    case = Case(
        tuple(Input(name, (), (1.0,)) for name in leaves), (Op("sum", ("x0",), ("y",), {"axis": None, "keepdims": False}), call)
    )
    assert times == times_as_large(case)
