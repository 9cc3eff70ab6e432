"""Engines with a tape that are neither PyTorch nor Paddle: what their dialects say of ``.grad`` and of graphs, and their adapters."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from conformance.backends import BackendInfo, open_backend
from conformance.backends.contract import offerable
from conformance.backends.reference import reference
from conformance.backends.registry import registration
from conformance.campaign.run import nowhere_taken
from conformance.case.case import Case, Input
from conformance.case.needs import ANEW
from conformance.case.outcome import Computed, NotOffered, Raised
from conformance.case.steps import Backward, Edge, Grad, Op, RetainGrad, SetRequiresGrad, Step
from conformance.compare.promise import Promise
from conformance.generate.grid import grid
from conformance.generate.scripts import DrawOptions, case_of
from conformance.judge.verdict import Bucket, judge
from examples.engines.eager import TAPES

X = Input("x", (2,), (1.0, 2.0), "float64")
SQUARE, TOTAL = Op("mul", ("x", "x"), ("y",)), Op("sum", ("y",), ("z",), {"axis": None, "keepdims": False})
TAPE_ENGINES = ("examples.engines.mygrad_eager", "examples.engines.tinygrad_eager")


def held(dialect: Any, *steps: Step) -> dict[str, Any]:
    """What the reference holds in ``.grad`` when a script is over."""
    case = Case((X,), steps)
    outcome = reference(dialect, dialect.not_offered).run(case)
    return {name: None if v is None else v.array.tolist() for name, v in zip(case.watched, outcome.final, strict=True)}


@pytest.mark.parametrize(
    ("accumulation", "after_two", "used_again"),
    [("added", [4.0, 8.0], [4.0, 8.0]), ("replaced", [2.0, 4.0], [2.0, 4.0]), ("nulled", [2.0, 4.0], None)],
)
def test_a_pass_adds_to_a_gradient_or_replaces_it(accumulation: Any, after_two: Any, used_again: Any) -> None:
    dialect = replace(TAPES, accumulation=accumulation, freed_refuses="nothing")
    twice = (SQUARE, TOTAL, Backward(("z",)), Backward(("z",)))
    assert [{"x": after_two}, {"x": used_again}] == [held(dialect, *twice), held(dialect, *twice, Op("exp", ("x",), ("e",)))]


def test_a_view_leaves_the_gradient_that_is_nulled_where_a_tensor_is_used() -> None:
    dialect = replace(TAPES, accumulation="nulled")
    viewed = Op("reshape", ("x",), ("v",), {"shape": [2, 1]})
    assert {"x": [2.0, 4.0]} == held(dialect, SQUARE, TOTAL, Backward(("z",)), viewed)


@pytest.mark.parametrize(("retaining", "expected"), [("asked", None), ("every", [1.0, 1.0])])
def test_every_tensor_has_a_gradient_or_those_that_were_asked_to(retaining: Any, expected: Any) -> None:
    dialect = replace(TAPES, retaining=retaining)
    assert expected == held(dialect, SQUARE, TOTAL, Backward(("z",)), RetainGrad("y"))["y"]


@pytest.mark.parametrize(("frees", "kind"), [("nothing", Computed), ("saved", Raised), ("executed", Raised)])
def test_what_is_not_freed_runs_again(frees: Any, kind: type) -> None:
    dialect = replace(TAPES, freed_refuses=frees)
    case = Case((X,), (SQUARE, TOTAL, Backward(("z",)), Backward(("z",))))
    assert isinstance(reference(dialect, dialect.not_offered).run(case).observations[-1], kind)


# What a backend does not offer.

SINE, COSINE = Op("sin", ("x",), ("s",)), Op("cos", ("x",), ("c",))


@pytest.mark.parametrize(
    ("steps", "needed"),
    [
        ((SINE, Backward(("s",)), Backward(("s",))), True),
        ((SINE, COSINE, Backward(("s",)), Backward(("c",))), True),
        ((SINE, Backward(("s",)), COSINE, Backward(("c",))), False),
        ((SINE, Backward(("s",)), Op("exp", ("s",), ("e",)), Backward(("e",))), True),
        ((SINE, Grad(("s",), ("x",), ("g",)), Backward(("s",))), False),
    ],
)
def test_a_pass_over_what_was_there_before_another_one_needs_a_graph_that_is_kept(steps: tuple[Step, ...], needed: bool) -> None:
    assert needed is (ANEW in Case((X,), steps).needs[-1])
    assert ANEW in offerable()


@pytest.mark.parametrize("word", ["step:retain_grad", "step:toggle"])
def test_what_only_a_step_would_give_a_gradient_that_is_not_offered_is_not_asked_for_one(word: str) -> None:
    step = RetainGrad("y") if word == "step:retain_grad" else SetRequiresGrad("y", False)
    case = Case((X,), (SQUARE, TOTAL, step, Backward(("z",))))
    lacking = {"step:retain_grad": "not here", word: "not here"}
    without, with_it = (BackendInfo("some", "1", TAPES, words) for words in (lacking, {}))
    assert (["x", ""], ["x", "y"]) == (without.watched(case), with_it.watched(case))
    assert isinstance(reference(TAPES, lacking).run(case).observations[2], NotOffered)


def test_an_engine_that_can_be_asked_to_retain_a_gradient_gives_none_to_what_nobody_asked_for() -> None:
    case = Case((X,), (SQUARE, TOTAL, Backward(("z",), inputs=("y",)), Backward(("z",))))
    info = BackendInfo("some", "1", TAPES, {"backward.inputs": "not here"})
    assert info.watched(case) == ["x", "y"]


def test_a_script_for_engines_without_grad_calls_backward_alone_and_passes_what_they_have() -> None:
    info: Any = BackendInfo("tapes", "1", TAPES, TAPES.not_offered)
    without = nowhere_taken([info])
    cases = [case_of(5, i, DrawOptions(without=without)) for i in range(150)]
    steps = [step for case in cases for step in case.steps]
    passes = [step for step in steps if isinstance(step, Backward)]
    assert not any(isinstance(step, Grad | Edge) for step in steps)
    words = [word for step in passes for field, word in Backward.PARAMETERS.items() if getattr(step, field) not in (None, False)]
    assert {"backward.retain_graph"} == set(words)
    assert len(passes) >= len(cases)
    assert {"backward"} == {point.row["call"] for point in grid(["exp"], without)}


def test_scripts_for_others_are_what_they_were() -> None:
    usual, others = ([case_of(5, i, DrawOptions(without=without)).id for i in range(50)] for without in ((), ("backward.inputs",)))
    assert usual == others


# The adapters.


def test_a_seed_that_a_gradient_is_added_to_is_told() -> None:
    """tinygrad makes the seed the ``.grad`` of the root; adding to that changes what was made of the seed, and was not computed yet."""
    name = "examples.engines.tinygrad_eager"
    if not registration(name).installed:
        pytest.skip("tinygrad is not installed")
    backend = open_backend(name)
    seed, kept = Input("s", (1,), (1.0,), "float64", differentiable=False), Op("sum", ("y",), ("z",), {"axis": [0], "keepdims": True})
    once, twice = (Case((X, seed), (SQUARE, kept, *(Backward(("z",), ("s",)),) * times)) for times in (1, 2))
    found = [judge(Promise(case, backend.info), backend.run(case)).bucket for case in (once, twice)]
    assert [Bucket.AGREED, Bucket.DIVERGED] == found


@pytest.mark.parametrize("name", TAPE_ENGINES)
def test_two_roots_agree_with_what_their_sum_means(name: str) -> None:
    if not registration(name).installed:
        pytest.skip(f"{registration(name).requires} is not installed")
    seed = Input("t", (2,), (3.0, -1.0), "float64", differentiable=False)
    case = Case((X, seed), (SINE, COSINE, Backward(("s", "c"), (None, "t"))))
    backend = open_backend(name)
    assert judge(Promise(case, backend.info), backend.run(case)).bucket is Bucket.AGREED


@pytest.mark.parametrize("name", TAPE_ENGINES)
def test_a_cotangent_of_one_of_two_roots_is_a_constant_though_it_is_the_root_itself_or_made_of_it(name: str) -> None:
    if not registration(name).installed:
        pytest.skip(f"{registration(name).requires} is not installed")
    case = Case((X,), (SINE, COSINE, Op("mul", ("s", "x"), ("t",)), Backward(("s", "c", "x"), ("t", None, "x"))))
    backend = open_backend(name)
    assert judge(Promise(case, backend.info), backend.run(case)).bucket is Bucket.AGREED
