"""Generation: reproducible, valid by construction, rich."""

from __future__ import annotations

import functools
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis.errors import InvalidArgument

from conformance.case.exercise import exercise_of
from conformance.case.files import check
from conformance.case.outcome import Raised
from conformance.case.steps import Backward, Grad, Op
from conformance.compare.compare import Comparer
from conformance.compare.promise import Promise
from conformance.generate import scripts
from conformance.generate.scripts import DrawOptions, case_of
from conformance.generate.sketch import Sketch
from conformance.generate.sources import FastSource
from conformance.generate.strategies import cases
from conformance.ops import catalogue
from conformance.ops.spec import Drawn
from tests.conformance.drawn import USUAL
from tests.conformance.engines import INFO, ROOT, answer

if TYPE_CHECKING:
    from conformance.case.case import Case

SEED = 1
DRAWN = USUAL[:500]


def ops_of(case: Case) -> set[str]:
    return {step.op for step in case.steps if isinstance(step, Op)}


def test_the_same_seed_draws_the_same_cases_in_another_process() -> None:
    code = "from conformance.generate.scripts import *; print(*[case_of(1, i, DrawOptions()).id for i in range(50)])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert [case.id for case in DRAWN[:50]] == done.stdout.split()


def test_cases_do_not_depend_on_the_order_of_drawing() -> None:
    backwards = [case_of(SEED, i, DrawOptions()) for i in reversed(range(100))]
    assert [*DRAWN[:100]] == backwards[::-1]


def test_cases_of_a_seed_differ() -> None:
    assert len(DRAWN) == len({case.id for case in DRAWN})


def test_cases_of_two_seeds_differ() -> None:
    assert not {case.id for case in DRAWN[:100]} & {case_of(SEED + 1, i, DrawOptions()).id for i in range(100)}


def test_every_case_obeys_the_language() -> None:
    for case in DRAWN:
        check(case)


def test_no_op_of_a_drawn_graph_is_refused() -> None:
    refused = [
        (case.id, step.op, seen.message)
        for case in DRAWN
        for step, seen in zip(case.steps, answer(case).observations, strict=True)
        if isinstance(step, Op) and isinstance(seen, Raised)
    ]
    assert not refused


def test_the_exact_lane_uses_exact_ops_alone() -> None:
    used = set().union(*(ops_of(case) for case in DRAWN if case.lane == "exact"))
    assert not [name for name in used if not catalogue()[name].exact]


def test_both_lanes_are_drawn_about_equally_often() -> None:
    lanes = Counter(case.lane for case in DRAWN)
    assert min(lanes.values()) >= 0.4 * len(DRAWN)


def test_every_op_that_eager_campaigns_use_is_drawn() -> None:
    used = set().union(*map(ops_of, USUAL))
    assert {name for name, entry in catalogue().items() if entry.drawn.unasked(static=False)} == used


def test_programs_draw_every_op_that_they_use_unasked_but_those_of_complex_numbers() -> None:
    used = set().union(*(ops_of(case_of(SEED, i, DrawOptions(static=True))) for i in range(3000)))
    assert {name for name, op in catalogue().items() if op.drawn.unasked(static=True) and op.family != "complex"} == used


@pytest.mark.parametrize("drawn", [Drawn.NAMED, Drawn.IN_PROGRAMS])
@pytest.mark.parametrize("static", [False, True])
def test_an_op_that_is_not_drawn_unasked_is_in_the_graphs_that_name_it_alone(
    drawn: Drawn, static: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scripts, "catalogue", lambda: {**catalogue(), "sin": replace(catalogue()["sin"], drawn=drawn)})
    monkeypatch.setattr(scripts, "_offered", functools.cache(scripts._offered.__wrapped__))
    unasked, named = (
        set().union(*(ops_of(case_of(SEED, i, DrawOptions(ops=ops, static=static))) for i in range(300))) for ops in (None, ("sin",))
    )
    assert (drawn.unasked(static=static), True) == ("sin" in unasked, "sin" in named)


def test_most_cases_are_rich() -> None:
    rich = sum(exercise_of(case, answer(case)).exercises_much for case in DRAWN)
    assert rich >= 0.6 * len(DRAWN)


@pytest.mark.parametrize(("op", "attrs"), [("tile", {"repeats": [4]}), ("diagflat", {"offset": 0})])
def test_a_chain_of_ops_that_multiply_elements_ends_before_it_outgrows_memory(op: str, attrs: dict[str, object]) -> None:
    sketch = Sketch(FastSource(1, 0), exact=False, dtype="float32")
    sketch.fresh((4,))
    while sketch.on(op, sketch.values[-1], **attrs):
        pass
    assert max(value.array.size for value in sketch.values) <= sketch.odds.sketch.most_elements


def test_every_case_calls_autograd() -> None:
    assert not [case.id for case in DRAWN if not any(isinstance(s, Backward | Grad) for s in case.steps)]


def test_a_plan_bounds_the_ops() -> None:
    draw = DrawOptions(ops=("mul", "sin"))
    used = set().union(*(ops_of(case_of(SEED, i, draw)) for i in range(100)))
    assert {"mul", "sin", "sum"} >= used


@pytest.mark.parametrize("lane", ["exact", "numeric"])
def test_a_plan_bounds_the_lane(lane: str) -> None:
    assert {lane} == {case_of(SEED, i, DrawOptions((lane,))).lane for i in range(50)}


@given(case=cases())
def test_hypothesis_draws_valid_cases(case: Case) -> None:
    check(case)


@given(case=cases())
def test_a_case_of_hypothesis_agrees_with_itself(case: Case) -> None:
    assert Comparer(Promise(case, INFO)).run(answer(case)).mismatch is None


@given(case=cases(lanes=("exact",), ops=("mul", "relu"), longest=3))
def test_a_strategy_keeps_to_its_arguments(case: Case) -> None:
    assert ("exact", True) == (case.lane, ops_of(case) <= {"mul", "relu", "sum"})


@given(case=cases(ops=("sin",)))
def test_ops_that_are_not_exact_are_drawn_in_the_numeric_lane(case: Case) -> None:
    assert case.lane == "numeric"


def test_hypothesis_shrinks_a_case_to_what_matters() -> None:
    phases = (Phase.generate, Phase.shrink)  # nobody hears what Hypothesis finds out of the case, which takes it thrice as long
    quick = settings(max_examples=50, derandomize=True, database=None, phases=phases)
    found = find(cases(ops=("sin", "mul"), longest=1), lambda case: "sin" in ops_of(case), settings=quick)
    assert len(found.steps) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"lanes": ("fuzzy",)}, "names 'fuzzy'; allowed are exact, numeric"),
        ({"lanes": ()}, r"lanes=\(\) is not allowed; give one or more of exact, numeric"),
        ({"lanes": "exact"}, "lanes='exact' is not allowed"),
        ({"ops": ("sine",)}, "names 'sine'; allowed are .*sin,"),
        ({"ops": ()}, r"ops=\(\) is not allowed"),
        ({"ops": ("sin",), "lanes": ("exact",)}, "has no exact op"),
        ({"longest": 0}, "longest=0 is not allowed; it is a whole number, at least 1"),
        ({"longest": 2.5}, "longest=2.5 is not allowed"),
        ({"longest": True}, "longest=True is not allowed"),
    ],
)
def test_a_bad_argument_of_a_strategy_is_refused_with_what_is_allowed(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        cases(**arguments)  # type: ignore[arg-type]


def test_what_was_found_out_of_the_ops_of_scripts_no_child_of_a_worker_finds_out_again(monkeypatch: pytest.MonkeyPatch) -> None:
    options = DrawOptions(later=scripts.usual_later(None, "usual"))
    find, found = scripts._offered.__wrapped__, []

    @functools.cache
    def finding(*given: object) -> tuple[str, ...]:
        found.append(given[2])
        return find(*given)  # type: ignore[no-any-return]

    monkeypatch.setattr(scripts, "_offered", finding)
    scripts.find_vocabularies(options)
    found.clear()
    for index in range(40):
        case_of(0, index, options)
    assert not [ops for ops in found if ops is None or len(ops) > 1]  # of the one op that a script is about little has to be found


@pytest.mark.parametrize("shape", [(), (3, 2)])
def test_a_value_of_one_shape_is_added_where_no_other_fits(shape: tuple[int, ...]) -> None:
    for index in range(20):
        sketch = Sketch(FastSource(5, index), exact=True, dtype="float32")
        assert shape == sketch.take(lambda d: d.shape == shape, shape=shape).shape
