"""Static programs: how they are drawn, run and judged, and that both halves of an engine agree."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from conformance.backends import open_backend
from conformance.backends.program_interpreter import Programs
from conformance.backends.reference import reference
from conformance.backends.registry import registrations
from conformance.backends.repro import script
from conformance.backends.repro.claims import Promised
from conformance.campaign.findings.explain import explain_case
from conformance.campaign.workers.backend_cache import backend
from conformance.campaign.workers.pool import Workers
from conformance.campaign.workers.trial import run_case
from conformance.case.case import Case, Input
from conformance.case.exercise import exercise_of
from conformance.case.files import CaseError, check
from conformance.case.outcome import Blocked, Computed, NotOffered, Outcome, Raised
from conformance.case.place import END
from conformance.case.steps import AppendBackward, Backward, Grad, Op
from conformance.clauses import CURATED
from conformance.clauses.checks import CHECKS, Check
from conformance.clauses.table import disagreement
from conformance.generate.scripts import DrawOptions, case_of
from conformance.judge.reproduction import reproduction
from conformance.judge.verdict import AGREEING, Bucket
from conformance.mutants.registry import mutant
from reference_impl import PADDLE, PADDLE_STATIC, Category
from tests.conformance import judged
from tests.conformance.engines import TOTAL
from tests.wrong_engines import correct_programs

if TYPE_CHECKING:
    from collections.abc import Iterator

STATIC = sorted(name for name, facts in registrations().items() if facts.static)

SHARED = 30
"""How many programs both halves are given."""
X, W = Input("x", (2,), (1.0, 2.0)), Input("w", (2,), (3.0, 4.0))
PRODUCT = Op("mul", ("x", "w"), ("y",))
KEPT = (*AGREEING, Bucket.KNOWN_DEVIATION)


@functools.cache
def answer(case: Case) -> Outcome:
    """Run a case on the reference's static half, once."""
    with np.errstate(all="ignore"):
        return reference(PADDLE_STATIC, PADDLE_STATIC.not_offered).run(case)


@functools.cache
def drawn() -> list[Case]:
    """Draw programs, once, and not before a test asks."""
    return [case_of(1, i, DrawOptions(static=True)) for i in range(200)]


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    """Open a worker process, in which every backend is opened once."""
    with Workers(("paddle", *STATIC), 1) as opened:
        yield opened


# The language.


@pytest.mark.parametrize(
    ("step", "problem"),
    [
        (AppendBackward("y", ("g",)), "names 1 results for 2 parameters"),
        (AppendBackward("y", ("g", "h"), ("x",)), "names 2 results for 1 parameters"),
        (AppendBackward("z", ("g", "h")), "'z' is not made before this step"),
    ],
)
def test_an_unfit_backward_part_is_no_case(step: AppendBackward, problem: str) -> None:
    with pytest.raises(CaseError, match=problem):
        check(Case((X, W), (PRODUCT, step)))


def test_differentiable_inputs_are_parameters_where_a_backward_part_is_appended() -> None:
    case = Case((X, W), (PRODUCT, AppendBackward("y", ("g", "h"))))
    assert (("x", "w"), ()) == (case.parameters, Case((X, W), (PRODUCT,)).parameters)


# Running.


def test_a_refused_step_blocks_what_needs_it_alone() -> None:
    misfit = Input("m", (3,), (1.0, 2.0, 3.0))
    case = Case((X, W, misfit), (Op("add", ("x", "m"), ("v",)), Op("neg", ("v",), ("u",)), PRODUCT))
    assert [Raised, Blocked, Computed] == [type(o) for o in answer(case).observations]


def test_an_absent_gradient_blocks_what_needs_it() -> None:
    case = Case((X, W), (PRODUCT, Grad(("y",), ("x",), ("g",), no_grad_vars=("y",)), Op("neg", ("g",), ("u",))))
    assert Blocked("g") == answer(case).observations[-1]


@pytest.mark.parametrize("name", ["torch", "paddle"])
def test_eager_backends_do_not_offer_a_backward_part(name: str) -> None:
    case = Case((X, W), (PRODUCT, AppendBackward("y", ("g", "h"))))
    with Workers((name,), 1) as workers:
        explained = workers.call(explain_case, case, name)
    assert explained.steps[1].actual.startswith("not offered")


def test_a_program_does_not_offer_backward() -> None:
    assert isinstance(answer(Case((X, W), (PRODUCT, Backward(("y",))))).observations[-1], NotOffered)


class RefusesToRun:
    """The reference's engine, but for runs of programs that hold an operator of a kind."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.engine = reference(PADDLE_STATIC, {}).engine  # type: ignore[attr-defined]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)

    def run(self, *arguments: Any) -> Any:
        if any(op.primitive.name == self.kind for op in self.engine.current.operators):
            raise ValueError(self.kind)
        return self.engine.run(*arguments)


def test_a_program_that_does_not_run_is_put_down_to_the_step_with_which_it_does_not() -> None:
    info = reference(PADDLE_STATIC, {}).info
    case = Case((X, W), (PRODUCT, Op("neg", ("x",), ("n",)), Op("neg", ("w",), ("m",)), Op("square", ("y",), ("s",))))
    seen = Programs(info, RefusesToRun("neg")).run(case).observations
    assert [Computed, Raised, Raised, Computed] == [type(o) for o in seen]


class RefusesOnce(RefusesToRun):
    """Refuses the first run of a program with such an operator, and no other."""

    refused = False

    def run(self, *arguments: Any) -> Any:
        if self.refused:
            return self.engine.run(*arguments)
        self.refused = any(op.primitive.name == self.kind for op in self.engine.current.operators)
        return super().run(*arguments)


def test_what_a_program_answers_that_is_refused_once_counts() -> None:
    info = reference(PADDLE_STATIC, {}).info
    seen = Programs(info, RefusesOnce("mul")).run(Case((X, W), (PRODUCT, Op("square", ("y",), ("s",))))).observations
    assert [Computed, Computed] == [type(o) for o in seen]


# Drawing.


def test_every_drawn_program_obeys_the_language() -> None:
    for case in drawn():
        check(case)


def test_drawn_programs_are_rich() -> None:
    kinds = Counter(type(step) for case in drawn() for step in case.steps)
    orders = Counter(exercise_of(case, answer(case)).highest for case in drawn())
    assert (True, True, True) == (kinds[Grad] > 300, kinds[AppendBackward] > 10, orders[2] > 50)


def test_no_step_of_a_drawn_program_is_out_of_place() -> None:
    assert not [o for case in drawn() for o in answer(case).observations if isinstance(o, Raised) and o.category is Category.UNMAPPED]


@pytest.mark.parametrize("framework", STATIC)
def test_every_drawn_program_has_a_script(framework: str) -> None:
    for case in drawn():
        compile(script(case, framework, Promised(END, ())), case.id, "exec")


@pytest.mark.parametrize("framework", STATIC)
def test_the_script_of_a_drawn_program_can_assert_what_is_promised(framework: str) -> None:
    for case in drawn()[:40]:
        compile(reproduction(case, framework), case.id, "exec")


# Judging.


def verdicts(name: str) -> Counter[str]:
    engine = correct_programs() if name == "correct_programs" else mutant(name).open()
    return Counter(run_case(case, [engine]).verdicts[name].bucket for case in drawn()[:100])


def test_an_engine_that_appends_no_sums_is_found_out() -> None:
    assert verdicts("dropped_fan_in")["diverged"] > 5


def test_a_right_engine_agrees_on_every_program() -> None:
    assert {"agreed", "same_error", "not_offered"} >= set(verdicts("correct_programs"))


# Clauses.


@pytest.mark.parametrize("name", STATIC)
@pytest.mark.parametrize("curated", CURATED, ids=lambda curated: curated.name)
def test_programs_keep_what_the_documents_promise(workers: Workers, curated: Any, name: str) -> None:
    assert judged.verdicts(workers, name, judged.CURATED)[curated.name].bucket in KEPT


def by_name(check: Check) -> str:
    return check.name


@pytest.mark.parametrize("check", CHECKS, ids=by_name)
def test_the_reference_passes_every_check(check: Check) -> None:
    assert not check.disagreement(reference(PADDLE_STATIC, PADDLE_STATIC.not_offered))


@pytest.mark.parametrize("name", STATIC)
@pytest.mark.parametrize("number", range(len(CHECKS)), ids=lambda number: CHECKS[number].name)
def test_a_backend_fails_the_checks_that_it_is_known_to_fail_and_no_other(workers: Workers, number: int, name: str) -> None:
    assert bool(workers.call(disagreement, number, name)) == (name in CHECKS[number].known)


@pytest.mark.parametrize("change", ["forgets to update", "updates twice as far"])
def test_a_training_that_goes_wrong_is_noticed(change: str) -> None:
    right = reference(PADDLE_STATIC, {})

    class Wrong:
        def train(self, task: Any) -> list[float]:
            rate = 0.0 if change == "forgets to update" else 2 * task.learning_rate
            return right.train(dataclasses.replace(task, learning_rate=rate))  # type: ignore[attr-defined,no-any-return]

    assert CHECKS[1].disagreement(Wrong())


# Both halves.


@functools.cache
def eager_answer(case: Case) -> Outcome:
    """Run a case on the reference's eager half, once."""
    return reference(PADDLE, PADDLE.not_offered).run(case)


@functools.cache
def shared_graphs() -> list[Case]:
    """Return the first exact programs that both halves offer."""
    return [*itertools.islice(offered_by_both(), SHARED)]


def offered_by_both() -> Iterator[Case]:
    """Draw exact programs in which nothing is refused, and nothing asked for that only one of the halves has."""
    for index in range(400):
        case = case_of(2, index, DrawOptions(("exact",), static=True))
        dtypes = {entry.dtype for entry in case.inputs}
        seen = [*answer(case).observations, *eager_answer(case).observations]
        calls = [s for s in case.steps if isinstance(s, Grad)]
        plain = all(isinstance(s, Op | Grad) for s in case.steps) and not any(s.no_grad_vars for s in calls)
        apart = all(len(set(s.inputs)) == len(s.inputs) and set(s.inputs).isdisjoint(s.outputs) for s in calls)
        if plain and apart and len(dtypes) == 1 and all(isinstance(o, Computed) for o in seen):
            yield case


def values_of(outcome: Outcome) -> list[list[Any]]:
    """Return every number, with absent and zero as one: they are where the conventions of the halves differ."""
    return [
        [None if v is None or not v.array.any() else (v.array + 0.0).tolist() for v in o.values] if isinstance(o, Computed) else [o]
        for o in outcome.observations
    ]


def test_there_are_graphs_that_both_halves_can_run() -> None:
    shared = shared_graphs()
    assert (SHARED, True) == (len(shared), sum(exercise_of(case, answer(case)).highest >= 2 for case in shared) >= 8)


@pytest.mark.parametrize("number", range(SHARED))
def test_both_halves_of_the_reference_agree(number: int) -> None:
    case = shared_graphs()[number]
    assert values_of(eager_answer(case)) == values_of(answer(case))


def is_unoffered(seen: Any) -> bool:
    """Whether a derivative is one that a half does not have, as nobody promises."""
    return isinstance(seen, Raised) and seen.category is Category.NOT_IMPLEMENTED


def in_both_halves(case: Case) -> tuple[bool, bool]:
    """Run a case on both halves of Paddle; whether they agree, and whether one of them deviates in a way that is known."""
    halves = [backend(name) for name in ("paddle", "paddle-static")]
    eager, static = (values_of(half.run(case)) for half in halves)
    agree = all(one == other for one, other in zip(eager, static, strict=True) if not any(map(is_unoffered, (*one, *other))))
    buckets = [run_case(case, [half]).verdicts[half.info.name].bucket for half in halves]
    return agree, Bucket.KNOWN_DEVIATION in buckets


def test_both_halves_of_paddle_agree_where_none_of_them_is_known_to_deviate(workers: Workers) -> None:
    seen = Counter(workers.calls(in_both_halves, [[case] for case in shared_graphs()], at_once=SHARED))
    assert (0, True) == (seen[False, False], seen[True, False] >= 20), seen


def test_the_programs_of_today_can_be_opened_by_name() -> None:
    assert open_backend("paddle-static").info.dialect is PADDLE_STATIC


def test_what_is_fed_is_not_changed() -> None:
    case = Case((X, W), (PRODUCT, Op("sum", ("y",), ("z",), TOTAL), Grad(("z",), ("x",), ("g",))))
    assert ((), True) == (answer(case).mutated, np.array_equal(case.inputs[0].array(), [1.0, 2.0]))
