"""The registry of mutants is complete, its faults are what they say, and the hunt finds them out and nothing else."""

from __future__ import annotations

import multiprocessing
import threading
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from conformance.backends import open_backend
from conformance.deviations import known
from conformance.generate.scripts import Plan, case_of
from conformance.generate.sketch import Sketch
from conformance.generate.source import FastSource
from conformance.judge.verdict import Bucket
from conformance.mutants import second
from conformance.mutants.hunt import Hunt, Kill, run_hunt
from conformance.mutants.measure import Power, PowerError, chosen, measure, without_the_culprit
from conformance.mutants.mutant import Kind, Mutant, WrongEngine, patch
from conformance.mutants.registry import mutants
from conformance.mutants.wrong import rules_of
from conformance.ops import catalogue
from conformance.ops.kinds import INEXACT, takes
from conformance.steps import Op
from reference_impl import OPS, Tensor, walk
from reference_impl.primitive import Primitive
from tests.reference_impl.rule_arguments import CONSTANT, ROWS, operands_for
from tests.reference_impl.rule_check import draw_like

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ALL = tuple(mutants().values())
OF_RULES = [m for m in ALL if m.kind is Kind.RULE]
OF_SECOND = [m for m in ALL if m.kind is Kind.SECOND]
SAMPLES = 120
ZERO = {"fill.x", "sign.x", "step.x", "floor.x", "ceil.x", "round.x"}
"""The rules whose result is zero."""
PARTS = {"reciprocal.x", "div_by_quotient.x", "div_by_quotient.y"}
"""Curved rules of ops that others are made of: a script that applies those reaches them."""

PARTED = {"reciprocal", "div_by_quotient"}
"""Ops that others are made of, which take complex numbers, too."""


def names(found: list[Mutant]) -> set[str]:
    """Return the rules that mutants are wrong in, ``op.operand``."""
    return {f"{m.rule[0]}.{OPS[m.rule[0]].operands[m.rule[1]]}" for m in found if m.rule is not None}  # type: ignore[attr-defined]


def samples(op: str) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """Yield operands and attributes: what the generator draws, exact and not, or what is written down for ops that it does not draw."""
    for attempt in range(SAMPLES if op in catalogue() else 0):
        exact = catalogue()[op].exact and attempt % 2 == 0
        complex_too = takes(op) == "both" and attempt % 4 > 1
        dtype = "complex128" if catalogue()[op].family == "complex" or complex_too else "float64"
        sketch = Sketch(FastSource(7, attempt), exact=exact and not (complex_too and op in INEXACT), dtype=dtype)
        if sketch.add_op(op):
            step = sketch.steps[-1]
            assert isinstance(step, Op)
            arrays = {made.name: made.array() for made in sketch.inputs}
            yield [arrays[name] for name in step.operands], step.attrs
    for attempt, (name, shapes, attrs) in enumerate((*ROWS, *CONSTANT)):
        if name == op:
            operands = operands_for(op, shapes, np.random.default_rng(attempt))
            yield operands, attrs
            yield [operand + 1j * operand[..., ::-1] for operand in operands] if op in PARTED else operands, attrs


def asked(op: str, position: int, operands: list[Any], attrs: dict[str, Any], *, boxed: bool = False) -> Any:
    """Run a vjp rule, on arrays or on tensors, with a cotangent that is nowhere the same."""
    primitive = OPS[op]
    assert isinstance(primitive, Primitive)
    given: Any = [Tensor(a, requires_grad=True) for a in operands] if boxed else operands
    out = primitive(*given, **attrs)
    random = np.random.default_rng(3)
    arrays = primitive.forward(*operands, **attrs)
    seeds = [draw_like(o, random).astype(o.dtype) for o in (arrays if primitive.several else (arrays,))]
    rule = primitive.rule(position)
    assert rule is not None
    with np.errstate(all="ignore"):
        return rule(
            tuple(seeds) if primitive.several else seeds[0],
            out,
            *given,
            **attrs,
            **({"position": len(given) - 1} if primitive.variadic else {}),
        )


def is_curved(name: str) -> bool:
    """Whether a rule's result is recorded as depending on the operands."""
    op, _, operand = name.partition(".")
    position = OPS[op].operands.index(operand)  # type: ignore[attr-defined]
    made = (asked(op, position, operands, attrs, boxed=True) for operands, attrs in islice(samples(op), 24))
    return any(isinstance(m, Tensor) and m.requires_grad for m in made)


def differs(mutant: Mutant) -> Iterator[bool]:
    """Yield for each sample whether a wrong rule answers something else than the right one."""
    assert mutant.rule is not None
    for operands, attrs in samples(mutant.rule[0]):
        right = asked(*mutant.rule, operands, attrs)
        with mutant.fault():
            try:
                wrong = asked(*mutant.rule, operands, attrs)
            except ValueError:
                yield True
                continue
        yield right.dtype != wrong.dtype or not np.array_equal(right, wrong, equal_nan=True)


# The registry.


def test_every_rule_of_every_op_has_a_wrong_version() -> None:
    assert set(rules_of(OPS)) == names(OF_RULES), "write a wrong version of the rule into a family of conformance.mutants"


def test_every_curved_rule_that_a_script_can_reach_has_a_fault_of_order_2() -> None:
    flat = {"abs.x", "relu.x", "leaky_relu.x", "hardshrink.x", "hardtanh.x", "relu6.x"}  # through slopes, whose derivative is 0
    curved = {name for name in rules_of(catalogue()) if is_curved(name)} - flat
    assert curved | PARTS == set(second.CURVED)


def test_every_other_rule_of_the_catalogue_has_a_fault_of_order_2() -> None:
    assert set(rules_of(catalogue())) - ZERO - set(second.CURVED) == set(second.LINEAR)


@pytest.mark.parametrize(
    ("kinds", "least"), [(set(Kind), 150), ({Kind.ENGINE}, 40), ({Kind.STATIC}, 15)], ids=["all", "engine", "static"]
)
def test_there_are_enough_mutants(kinds: set[Kind], least: int) -> None:
    assert sum(m.kind in kinds for m in ALL) >= least


def test_no_known_deviation_excuses_a_mutant() -> None:
    assert set(mutants()).isdisjoint(entry.backend for entry in known())


def test_an_equivalent_mutant_says_why() -> None:
    assert [] == [m.id for m in ALL if m.equivalent and len(m.equivalent) < 30]


def test_a_mutant_can_be_opened_as_a_backend() -> None:
    assert open_backend("conformance.mutants.engines:dropped_fan_out").info.name == "conformance.mutants.engines:dropped_fan_out"


# The faults.


@pytest.mark.parametrize("mutant", OF_RULES, ids=lambda m: m.id)
def test_a_wrong_rule_is_wrong(mutant: Mutant) -> None:
    assert any(differs(mutant))


@pytest.mark.parametrize("mutant", OF_SECOND, ids=lambda m: m.id)
def test_a_fault_of_order_2_changes_no_value_of_the_first_order(mutant: Mutant) -> None:
    assert not any(differs(mutant))


def outcomes(engine: Any) -> list[str]:
    """Run a few cases and write down all that was seen."""
    return [repr(engine.run(case_of(3, i, Plan(static=engine.info.dialect.static)))) for i in range(2)]


def test_faults_are_gone_when_mutants_have_run() -> None:
    before = outcomes(WrongEngine("correct"))
    for mutant in ALL:
        outcomes(mutant.open())
    assert before == outcomes(WrongEngine("correct"))


def test_a_fault_is_gone_even_if_its_engine_fails() -> None:
    def fails(*_: Any) -> None:
        raise KeyboardInterrupt

    right = walk.Walk.run
    with pytest.raises(KeyboardInterrupt):
        outcomes(WrongEngine("fails", patch((walk.Walk, "run", fails))))
    assert walk.Walk.run is right


# The hunt.


def hunt(folder: Path, *ids: str, start: int = 0, stop: int = 60, **options: Any) -> Hunt:
    return Hunt(1, start, stop, ids, str(folder), 30.0, **options)


@pytest.fixture
def entered(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Enter a mutant into the registry for the length of a test."""

    def enter(name: str, fault: Any) -> str:
        monkeypatch.setitem(mutants(), name, Mutant(name, Kind.ENGINE, "a test", "something", fault))  # type: ignore[arg-type]
        return name

    return enter


@pytest.mark.parametrize(
    "name", ["dropped_fan_out", "mul-x-wrong_operand", "first_order_only", "dropped_fan_in", "torch_freed_refuses"]
)
def test_a_mutant_is_found_out(name: str, tmp_path: Path) -> None:
    assert run_hunt(hunt(tmp_path, name)).get(name)


def test_an_engine_without_a_fault_survives(tmp_path: Path, entered: Any) -> None:
    assert {} == run_hunt(hunt(tmp_path, entered("null", patch()), stop=150))


def test_what_is_found_does_not_depend_on_where_ranges_of_cases_end(tmp_path: Path) -> None:
    ids = tuple(m.id for m in ALL)[::25]
    whole = run_hunt(hunt(tmp_path, *ids, stop=25))
    first = run_hunt(hunt(tmp_path, *ids, stop=10))
    rest = run_hunt(hunt(tmp_path, *(i for i in ids if i not in first), start=10, stop=25))
    assert whole == {**first, **rest}


def test_skipping_cases_in_which_the_rule_is_not_called_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = tuple(m.id for m in (*OF_RULES, *OF_SECOND))[::20]
    fast = run_hunt(hunt(tmp_path, *ids, stop=25))
    monkeypatch.setattr("conformance.mutants.hunt.can_show", lambda *_: True)
    assert fast == run_hunt(hunt(tmp_path, *ids, stop=25))


def test_an_endless_recursion_is_found_out_as_a_divergence(tmp_path: Path, entered: Any) -> None:
    def recurse(self: Any) -> None:
        recurse(self)

    name = entered("recursion", patch((walk.Walk, "run", recurse)))
    assert run_hunt(hunt(tmp_path, name, stop=5))[name].bucket == Bucket.DIVERGED


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="the mutant is known to a forked process only")
def test_a_mutant_that_never_comes_back_is_found_out_as_timed_out(tmp_path: Path, entered: Any) -> None:
    name = entered("hangs", patch((walk.Walk, "run", lambda _: threading.Event().wait())))
    endless = Hunt(1, 0, 20, (name,), str(tmp_path), 0.5)
    process = multiprocessing.get_context("fork").Process(target=run_hunt, args=(endless,))
    process.start()
    process.join()
    again = without_the_culprit(endless)
    assert Bucket.TIMED_OUT == again.lost[name][1] == run_hunt(again)[name].bucket


def test_a_worker_that_dies_without_a_mutant_is_a_fault_of_the_suite(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="no mutant did it"):
        without_the_culprit(hunt(tmp_path, "dropped_fan_out"))


def test_worker_processes_find_what_one_process_finds(tmp_path: Path) -> None:
    ids = ("dropped_fan_out", "first_order_only", "none_for_zeros", "sin-x-sign")
    assert run_hunt(hunt(tmp_path, *ids, stop=120)) == measure(ids, cases=120, jobs=2).kills


# The score.

KILLS = {
    "sin-x-sign": Kill(9, "diverged", "grad"),
    "cos-x-sign": Kill(29, "crashed", ""),
    "dropped_fan_out": Kill(0, "diverged", "grad"),
}
POWER = Power(KILLS, ("sin-x-sign", "cos-x-sign", "exp-x-operand_for_result", "dropped_fan_out"), 100, 1, 1.0)


def test_the_score_counts_cases_to_detection_of_each_kind() -> None:
    seen = [(s.kind, s.killed, s.total, s.median, s.worst) for s in POWER.scores()]
    assert [(Kind.RULE, 2, 3, 20.0, 30), (Kind.ENGINE, 1, 1, 1, 1)] == seen


def test_a_missed_target_is_named() -> None:
    assert ["rule: 2 of 3 mutants were found out within 100 cases; the target is 100%"] == POWER.missed()


def test_a_mutant_that_is_argued_to_be_equivalent_is_no_part_of_the_score(monkeypatch: pytest.MonkeyPatch) -> None:
    same = Mutant("same", Kind.ENGINE, "", "", equivalent="nothing reads it")
    monkeypatch.setitem(mutants(), "same", same)  # type: ignore[arg-type]
    power = Power({}, ("same",), 100, 1, 1.0)
    assert ([], [(0, 0, 1)]) == (power.missed()[1:], [(s.killed, s.total, s.equivalent) for s in power.scores()])


@pytest.mark.parametrize(("pattern", "found"), [("sin-x-sign", 1), ("sin-x", 4), ("sin-*", 4), (None, len(ALL))])
def test_mutants_are_chosen_by_a_pattern_or_a_part_of_the_id(pattern: str | None, found: int) -> None:
    assert found == len([i for i in chosen(pattern) if pattern is None or i.startswith("sin")])


def test_a_pattern_that_fits_nothing_is_refused() -> None:
    with pytest.raises(PowerError, match="no mutant is called like 'no-such'"):
        chosen("no-such")
