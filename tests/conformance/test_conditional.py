"""Conditional faults: each holds somewhere, does nothing where it does not, and is found out on whatever engine carries it."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from conformance.backends import BackendError, open_backend
from conformance.backends.reference import reference
from conformance.campaign.workers.nursery import DeathError, forked
from conformance.case.case import Case, Input
from conformance.case.outcome import Computed, plainly
from conformance.case.steps import Backward, Grad, InPlace, Op
from conformance.cli.gate import CONDITIONAL_FLOOR, weak
from conformance.compare.promise import Promise
from conformance.generate.grid import grid
from conformance.judge.judgement import judged
from conformance.judge.verdict import Bucket
from conformance.mutants.conditional import effects_of_calls, effects_of_ops, effects_of_tensors
from conformance.mutants.conditional.carried import Carried, Watch, carried, host_of
from conformance.mutants.conditional.chase import Chase, run_chase
from conformance.mutants.conditional.fault import AND, ConditionalFault, vocabulary
from conformance.mutants.conditional.pursuit import pursuits
from conformance.mutants.conditional.table_of_calls import UNDRAWN
from conformance.mutants.hunt import Kill
from conformance.mutants.measure import Power, PowerError, chosen, measure
from conformance.mutants.mutant import Kind, Mutant
from conformance.mutants.registry import engines
from conformance.ops import catalogue
from conformance.ops.spec import Drawn
from reference_impl import PADDLE, TORCH
from tests.conformance.drawn import USUAL
from tests.conformance.drawn import Drawn as DrawnCases

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from conformance.case.outcome import Outcome
    from conformance.mutants.conditional.moment import Moment

FAULTS = [m.conditional for m in engines().values() if m.conditional is not None]
OF_OPS = [fault for fault in FAULTS if fault.of_op]
DRAWN = DrawnCases(5, 60)
FIRST = tuple(grid(["exp"]))


def fault(part: str, condition: str, effect: str) -> ConditionalFault:
    """Return a fault of the table."""
    return next(f for f in FAULTS if (f.part, f.condition, f.effect) == (part, condition, effect))


DOUBLED = fault("exp", "more than 8 elements", "its gradients are doubled")
SECOND = fault("cos", "more than 16 elements", "its second derivatives are wrong")
THIRD = fault("exp", "more than 8 elements", "its third derivatives are wrong")
TURNED = fault("grad", "a transposed seed", "the seeds are turned around")


def right(case: Case) -> Outcome:
    return reference(TORCH, TORCH.not_offered).run(case)


def wrong(found: ConditionalFault, case: Case, host: str = "reference") -> Outcome:
    return carried("wrong", host, found).run(case)


def bucket(found: ConditionalFault, case: Case, host: str = "reference") -> Bucket:
    engine = carried(host, host, found)
    return judged(Promise(case, engine.info), engine.run(case)).bucket


def with_elements(count: int, op: str = "exp", *, order: int = 1) -> Case:
    """Return a case in which an op is differentiated so often."""
    calls = [Grad((f"y{n}",), ("x",), (f"y{n + 1}",), ("s",), create_graph=n + 1 < order) for n in range(order)]
    numbers = tuple(0.25 * n for n in range(count))
    return Case(
        (Input("x", (count,), numbers), Input("s", (count,), (1.0,) * count, differentiable=False)), (Op(op, ("x",), ("y0",)), *calls)
    )


# The table.


def test_there_are_at_least_150_for_every_dialect() -> None:
    assert min(sum(f.needs not in dialect.not_offered for f in FAULTS) for dialect in (TORCH, PADDLE)) >= 150


def test_each_has_a_name_of_its_own() -> None:
    assert len(FAULTS) == len({found.id for found in FAULTS})


def test_every_word_is_in_the_vocabulary() -> None:
    effects = {*effects_of_ops.EFFECTS, *effects_of_calls.OF_CALLS, *effects_of_tensors.OF_TENSORS}
    unknown = [f.id for f in FAULTS if f.effect not in effects or not set(f.condition.split(AND)) <= set(vocabulary(f.part))]
    assert not unknown


def test_no_word_of_the_vocabulary_is_unused() -> None:
    known = {*effects_of_ops.EFFECTS, *effects_of_calls.OF_CALLS, *effects_of_tensors.OF_TENSORS}
    known |= {words for part in ("exp", "grad", "hook") for words in vocabulary(part)}
    used = {words for f in FAULTS for words in (f.effect, *f.condition.split(AND))}
    assert known == used


def test_every_op_that_random_graphs_draw_unasked_has_one() -> None:
    assert {name for name, row in catalogue().items() if row.drawn is not Drawn.NAMED} <= {found.part for found in OF_OPS}


# What a fault does.


def test_a_fault_shows_where_its_condition_holds() -> None:
    assert bucket(DOUBLED, with_elements(9)) is Bucket.DIVERGED


@pytest.mark.parametrize("host", ["reference", "torch", "paddle"])
def test_a_fault_does_nothing_where_its_condition_does_not_hold(host: str) -> None:
    case = with_elements(8)
    opened = host_of(host, DOUBLED)
    assert opened is not None
    assert plainly(opened.run(case)) == plainly(wrong(DOUBLED, case, host))


@pytest.mark.parametrize(("found", "op", "order"), [(SECOND, "cos", 2), (THIRD, "exp", 3)], ids=["second", "third"])
def test_a_fault_of_a_higher_order_shows_at_that_order_alone(found: ConditionalFault, op: str, order: int) -> None:
    seen = [bucket(found, with_elements(20, op, order=n)) for n in range(1, 4)]
    assert [n == order for n in range(1, order + 1)] == [b is Bucket.DIVERGED for b in seen[:order]]


@pytest.mark.parametrize("found", [f for f in OF_OPS if f.effect != "it is not recorded"][::8], ids=lambda f: f.id)
def test_a_fault_of_an_op_changes_no_value_of_the_op(found: ConditionalFault) -> None:
    watch = Watch([found])
    opened = host_of("reference", found)
    assert opened is not None
    for point in grid([found.part]):
        case = point.case()
        Carried("watched", opened, watch).run(case)
        if watch.held:
            forward = [n for n, step in enumerate(case.steps) if isinstance(step, Op)]
            pairs = [(right(case).observations[n], wrong(found, case).observations[n]) for n in forward]
            assert all(plainly(one) == plainly(other) for one, other in pairs)
            return


def test_an_op_with_a_fault_is_left_alone_where_a_script_tells_views_from_copies() -> None:
    case = with_elements(9)
    changed = Case(case.inputs, (*case.steps, InPlace("add_scalar", "y1", (), {"other": 1.0})))
    assert plainly(right(changed)) == plainly(wrong(DOUBLED, changed))


def test_a_fault_of_a_call_needs_no_op() -> None:
    inputs = (
        Input("x", (2, 3), (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)),
        Input("b", (3, 2), (1.0, 2.0, 3.0, 4.0, 5.0, 6.0), differentiable=False),
    )
    steps = (
        Op("transpose", ("b",), ("s",), {"axis0": 0, "axis1": 1}),
        Op("mul_scalar", ("x",), ("y",), {"other": 2.0}),
        Grad(("y",), ("x",), ("g",), ("s",)),
    )
    assert bucket(TURNED, Case(inputs, steps, "exact")) is Bucket.DIVERGED


@pytest.mark.parametrize("host", ["reference", "torch", "paddle"])
def test_a_gradient_that_was_returned_may_not_change_in_a_later_call(host: str) -> None:
    found = fault("backward", "a gradient returned before it", "what an earlier call returned is doubled")
    seeded = (Input("x", (2,), (1.0, 2.0)), Input("s", (2,), (3.0, 4.0), differentiable=False))
    steps = (Op("square", ("x",), ("y",)), Grad(("y",), ("x",), ("g",), ("s",), retain_graph=True), Backward(("y",), ("s",)))
    assert ["g"] == list(wrong(found, Case(seeded, steps, "exact"), host).mutated)


@pytest.mark.parametrize("host", ["reference", "torch", "paddle"])
@pytest.mark.parametrize(
    ("condition", "effect", "seed"),
    [
        ("a seed with NaN", "NaN in the seeds is zero", ("nan", 1.0)),
        ("an infinite seed", "infinite seeds are the largest numbers", (1.0, "-inf")),
        ("an infinite seed", "NaN in the gradients is zero", ("inf", 1.0)),
    ],
)
def test_an_engine_that_takes_what_is_not_finite_for_numbers_is_found_out(
    host: str, condition: str, effect: str, seed: tuple[float | str, ...]
) -> None:
    inputs = (Input("x", (2,), (1.0, 2.0)), Input("s", (2,), seed, differentiable=False))
    case = Case(inputs, (Op("mul_scalar", ("x",), ("y",), {"other": 0.0}), Grad(("y",), ("x",), ("g",), ("s",))), "exact")
    assert bucket(fault("grad", condition, effect), case, host) is Bucket.DIVERGED


def test_faults_that_show_where_numbers_are_not_finite_are_chased_through_scripts_that_may_have_such(tmp_path: Path) -> None:
    alone = "grad-a_second_derivative-NaN_in_the_gradients_is_zero"
    (chase,) = pursuits((alone,), {}, 20, 1, str(tmp_path), "reference")
    assert not all(np.isfinite(entry.array()).all() for index in range(20) for entry in chase.case(index).inputs)


@pytest.mark.parametrize(
    "fault",
    [
        "a_seed_with_NaN_and_a_second_derivative-NaN_in_the_seeds_is_zero",
        "an_infinite_seed_and_a_second_derivative-infinite_seeds_are_the_largest_numbers",
        "a_seed_with_NaN_and_an_op_that_rounds_above_a_root-NaN_in_the_seeds_is_zero",
        "an_infinite_seed_and_an_op_that_rounds_above_a_root-infinite_seeds_are_the_largest_numbers",
    ],
)
def test_an_engine_that_loses_what_is_not_finite_at_order_2_or_in_functions_is_found_out_in_few_scripts(
    fault: str, tmp_path: Path
) -> None:
    assert run_chase(Chase(1, 0, 150, (f"grad-{fault}",), str(tmp_path), 30.0, unbounded=True)).kills


def test_the_past_of_a_script_is_forgotten_with_it() -> None:
    engine = carried("wrong", "reference", fault("exp", "the second time in a script", "its gradients are doubled"))
    case = with_elements(4)
    assert [plainly(right(case))] * 2 == [plainly(engine.run(case)) for _ in range(2)]


def test_the_past_of_a_process_is_not() -> None:
    engine = carried("wrong", "reference", fault("sin", "the third time in a process", "its gradients have the wrong sign"))
    case = with_elements(4, "sin")
    assert [True, True, False, True] == [plainly(engine.run(case)) == plainly(right(case)) for _ in range(4)]


# Watching.


def in_a_child(engine: Any, case: Case) -> Any:
    try:
        return forked(lambda: plainly(engine.run(case)))
    except DeathError:  # Paddle dies of some of them, watched or not
        return "died"


@pytest.mark.filterwarnings("ignore:The .grad attribute")
@pytest.mark.parametrize("host", ["reference", "torch", "paddle"])
def test_watching_changes_nothing(host: str) -> None:
    opened = host_of(host, DOUBLED)
    assert opened is not None
    watched = Carried(opened.info.name, opened, Watch(FAULTS))
    cases = [*DRAWN[:15], *(point.case() for point in FIRST[::24])]
    assert [in_a_child(opened, case) for case in cases] == [in_a_child(watched, case) for case in cases]


def test_a_fault_whose_condition_was_not_seen_to_hold_shows_nowhere() -> None:
    watch = Watch(FAULTS)
    opened = host_of("reference", DOUBLED)
    assert opened is not None
    for case in DRAWN[:12]:
        watch.held.clear()
        plain = plainly(Carried("reference", opened, watch).run(case))
        silent = [f for f in FAULTS if f.id not in watch.held and not f.needs and "process" not in f.condition]
        assert [] == [f.id for f in silent[::6] if plainly(wrong(f, case)) != plain]


MET = ("mul", "pow_scalar", "sum", "cat", "split", "tril", "tile", "conv2d", "leaky_relu", "permute", "getitem_strided", "roll")
MET_TOO = ("pad_constant", "mul_scalar", "index_select", "getitem_int")


SELDOM = {"one root twice", "one seed for two roots"}
"""Conditions that few scripts meet."""


ASKED: dict[str, set[str]] = defaultdict(set)
for found in FAULTS:
    ASKED["op" if found.of_op else found.part].update(found.condition.split(AND))


class EveryCondition:
    """An answer without a fault that notes which conditions of a vocabulary hold."""

    def __init__(self) -> None:
        self.held: set[str] = set()

    def __call__(self, at: Moment, answered: Callable[..., Any]) -> Any:
        for words in ASKED["op" if at.part in catalogue() else at.part] - self.held:
            try:
                if ConditionalFault(at.part, words, "").holds(at):
                    self.held.add(words)
            except ValueError:  # an op whose operands do not broadcast is asked whether they do
                continue
        return answered()


def test_every_condition_holds_in_some_case() -> None:
    asked = EveryCondition()
    host = host_of("reference", DOUBLED)
    assert host is not None
    engine = Carried("reference", host, asked)
    for case in (*(point.case() for point in tuple(grid((*MET, *MET_TOO)))[::2]), *USUAL[:400]):
        engine.run(case)
    used = {words for f in FAULTS if not f.needs for words in f.condition.split(AND)}
    assert used - asked.held <= {*UNDRAWN, *SELDOM}


# The chase.


def chase(folder: Path, points: Iterable[Any], *ids: str, host: str = "reference", drawn: int = 0) -> Chase:
    at = dict(enumerate(points))
    return Chase(1, 0, len(at) + drawn, ids, str(folder), 60.0, host=host, points=at, drawn=len(at))


SOME = (
    "exp-more_than_8_elements-its_gradients_are_doubled",
    "exp-a_transposed_operand-its_gradients_are_doubled",
    "exp-more_than_8_elements-its_third_derivatives_are_wrong",
    "exp-no_elements-it_is_not_recorded",
    "grad-a_transposed_seed-the_seeds_are_turned_around",
    "grad-a_second_derivative-the_first_gradient_is_doubled",
    "backward-a_gradient_that_is_there-it_replaces_what_is_there",
)


@pytest.mark.parametrize("host", ["reference", "torch", "paddle"])
def test_faults_are_found_out_on_a_real_engine_as_on_the_reference(host: str, tmp_path: Path) -> None:
    assert set(SOME) == set(run_chase(chase(tmp_path, FIRST, *SOME, host=host)).kills)


@pytest.fixture
def harmless(monkeypatch: pytest.MonkeyPatch) -> str:
    """Enter a fault whose effect is none."""
    monkeypatch.setattr(effects_of_ops, "EFFECTS", {**effects_of_ops.EFFECTS, "nothing": lambda _, made: made})
    found = ConditionalFault("exp", "float64", "nothing")
    monkeypatch.setitem(engines(), found.id, Mutant(found.id, Kind.CONDITIONAL, "exp", "", conditional=found))
    return found.id


@pytest.mark.parametrize("host", ["reference", "torch"])
def test_an_effect_that_is_none_survives_in_every_case_in_which_its_condition_holds(host: str, harmless: str, tmp_path: Path) -> None:
    caught = run_chase(chase(tmp_path, FIRST, harmless, host=host))
    assert ({}, True) == (caught.kills, caught.tries[harmless] >= 5)


def test_a_fault_that_is_found_out_is_run_no_more(tmp_path: Path) -> None:
    caught = run_chase(chase(tmp_path, FIRST, SOME[0]))
    assert caught.kills[SOME[0]].tries == caught.tries[SOME[0]]


def test_a_case_in_which_the_plain_engine_fails_kills_nothing(tmp_path: Path) -> None:
    host = "tests.conformance.broken_adapters:doubles"
    points = [p for p in FIRST if p.row["call"] == "grad" and p.row["size"] == "16+"]
    caught = run_chase(chase(tmp_path, points, SOME[0], host=host))
    assert ({}, len(points)) == (caught.kills, caught.tries[SOME[0]])


def test_the_chase_of_a_worker_that_dies_in_the_plain_engine_leaves_the_case_out(tmp_path: Path) -> None:
    begun = chase(tmp_path, FIRST, *SOME)
    begun.progress.write_text("3 plain")
    assert frozenset({3}) == begun.after_death().fatal


def test_the_chase_of_a_worker_that_dies_with_a_fault_has_found_it_out(tmp_path: Path) -> None:
    begun = chase(tmp_path, FIRST[:5], *SOME)
    begun.progress.write_text(f"0 {SOME[1]}")
    assert 0 == run_chase(begun.after_death()).kills[SOME[1]].case


def test_worker_processes_find_what_one_process_finds(tmp_path: Path) -> None:
    ids = ("hook-an_input-it_sees_twice_the_cotangent", "detach-a_view-it_keeps_its_history")
    assert run_chase(chase(tmp_path, (), *ids, drawn=90)).kills == measure(ids, cases=90).kills


# The measure.


def test_no_other_mutant_is_put_into_a_framework() -> None:
    assert {Kind.CONDITIONAL} == {engines()[name].kind for name in chosen(None, "torch")}


def test_a_fault_that_needs_what_a_host_does_not_offer_is_not_put_into_it() -> None:
    with pytest.raises(PowerError):
        chosen("backward-inputs_given", "paddle")


def test_a_host_that_is_no_interpreter_is_refused() -> None:
    with pytest.raises(BackendError, match="which is what can carry a fault"):
        chosen(SOME[0], "paddle-static")


def test_a_fault_can_be_opened_on_another_engine_by_its_id() -> None:
    case = with_elements(9)
    opened = open_backend(f"conformance.mutants.engines:{SOME[0]}@torch")
    seen = opened.run(case).observations[1]
    plain = open_backend("torch").run(case).observations[1]
    assert isinstance(seen, Computed)
    assert isinstance(plain, Computed)
    assert plainly(seen) != plainly(plain)


def test_a_survivor_says_in_how_many_cases_its_condition_held() -> None:
    survivors = Power({}, SOME[:2], 100, 1, 1.0, tries={SOME[0]: 7}).record().survivors
    assert ["no verdict in the 7 cases in which its condition held", "its condition held in no case"] == [s.reason for s in survivors]


def test_a_survivor_whose_condition_is_never_drawn_says_why() -> None:
    (undrawn,) = Power({}, ("grad-a_flag_that_is_a_number-the_last_gradient_is_doubled",), 100, 1, 1.0).record().survivors
    assert undrawn.reason.startswith("its condition held in no case: flags are drawn as True and False")


@pytest.mark.parametrize(("killed", "count"), [(round(100 * CONDITIONAL_FLOOR), 0), (round(100 * CONDITIONAL_FLOOR) - 1, 1)])
def test_the_gate_is_red_below_the_floor(killed: int, count: int) -> None:
    ids = tuple(f.id for f in FAULTS)[:100]
    assert count == len(weak(Power(dict.fromkeys(ids[:killed], Kill(0, "diverged", "grad", 1)), ids, 400, 1, 1.0)))
