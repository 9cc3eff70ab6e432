"""The conditions of known deviations hold where they say, for the steps of their scope."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from conformance.case.case import Case, Input
from conformance.case.files import read
from conformance.case.place import END, StepNumber
from conformance.case.queries import label
from conformance.case.steps import Backward, Grad, Hook, InPlace, Op
from conformance.compare.promise import Promise
from conformance.deviations import explain as known_module
from conformance.deviations.conditions import CONDITIONS, SCOPES, calls, holds, in_words
from conformance.deviations.conditions.calls import input_is_output, moves_nothing
from conformance.deviations.conditions.registry import condition
from conformance.deviations.entries import Deviation
from conformance.judge.verdict import Bucket, judge
from tests.conformance.engines import EXACT, TOTAL, answer

if TYPE_CHECKING:
    from collections.abc import Iterator
from tests.conformance.described import CASES, INFO, X


@pytest.mark.parametrize(("step", "expected"), [(0, "op:mul"), (2, "grad"), (3, "backward"), (END, "end")])
def test_a_step_is_called_by_its_op_or_call(step: StepNumber, expected: str) -> None:
    assert expected == label(EXACT, step)


@functools.cache
def cases_of_findings() -> tuple[Case, ...]:
    """Return the cases of all findings."""
    return tuple(map(read, CASES))


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_condition_holds_for_some_steps_of_the_findings_and_not_for_others(name: str) -> None:
    def answers() -> Iterator[bool]:
        return (CONDITIONS[name].holds(case, number) for case in cases_of_findings() for number in range(len(case.steps)))

    assert (True, True) == (True in answers(), False in answers())  # nobody is asked any more where both were seen


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_condition_does_not_hold_for_an_ordinary_case(name: str) -> None:
    ordinary = Case((Input("x", (), (1.0,)),), (Op("square", ("x",), ("y",)), Backward(("y",))), "exact")
    assert [False, False] == [CONDITIONS[name].holds(ordinary, number) for number in (0, 1)]


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_condition_can_be_asked_where_steps_before_were_refused(name: str) -> None:
    unreached = Grad(("y",), ("w",), ("g",))
    steps = (
        Op("square", ("x",), ("y",)),
        unreached,
        InPlace("mul_scalar", "g", (), {"other": 2.0}),
        Grad(("y",), ("y",), ("h",), ("g",)),
    )
    case = Case((Input("x", (), (1.0,)), Input("w", (), (1.0,))), steps, "exact")
    assert {CONDITIONS[name].holds(case, number) for number in range(len(steps))} <= {True, False}


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_condition_says_what_it_asks(name: str) -> None:
    assert CONDITIONS[name].words[:1].islower()


@pytest.mark.parametrize(("hooked", "first"), [("w", True), ("y", False)])
def test_a_hook_that_is_called_before_an_instance_norm_is_differentiated_refuses_first(hooked: str, first: bool) -> None:
    ones = (Input("x", (1, 1, 2), (1.0, 2.0), differentiable=False), Input("w", (1,), (1.0,)), Input("b", (1,), (1.0,)))
    norm = Op("instance_norm", ("x", "w", "b"), ("y",), {"eps": 1e-3})
    hook = Hook(hooked, ("k",), "another_dtype")
    steps = (norm, hook, Op("sum", ("y",), ("t",), TOTAL), Backward(("t",)))
    assert CONDITIONS["instance_norm_first"].holds(Case(ones, steps), 3) is first


@pytest.mark.parametrize(("hooked", "first"), [("t", True), ("y", False)])
def test_a_hook_that_is_called_before_a_product_of_reflections_is_differentiated_refuses_first(hooked: str, first: bool) -> None:
    factors = (Input("v", (1, 1), (0.0,)), Input("t", (1,), (3.0,)))
    made = Op("householder_product", ("v", "t"), ("y",))
    steps = (made, Hook(hooked, ("k",), "another_dtype"), Op("sum", ("y",), ("z",), TOTAL), Backward(("z",)))
    assert CONDITIONS["reflections_first"].holds(Case(factors, steps), 3) is first


@pytest.mark.parametrize(
    ("target", "reduction", "written"),
    [([0, 1], "sum", True), ([[0], [1]], "mean", True), ([1, 0], "sum", False), ([0, 1], "none", False)],
)
def test_ignored_targets_are_written_where_a_result_has_no_place_for_them(target: list[Any], reduction: str, written: bool) -> None:
    attrs = {"target": target, "weight": None, "ignore_index": 1, "reduction": reduction}
    shape = (2, 2, *np.shape(target)[1:])
    case = Case((Input("x", shape, (1.0,) * 4),), (Op("nll_loss", ("x",), ("y",), attrs),))
    assert CONDITIONS["reduced_with_ignored_targets"].holds(case, 0) is written


def test_an_entry_is_told_with_what_its_conditions_ask() -> None:
    assert in_words("before: hooks or at: batched") == "before: the step registers a hook or at: a `grad` call is batched"


def test_two_conditions_of_one_name_are_refused() -> None:
    def batched(case: Case, number: int) -> bool:
        return bool(case) and number > 0

    with pytest.raises(ValueError, match="there are two conditions of the name 'batched'"):
        condition(batched)


DERIVED = Case(
    (X,),
    (
        Op("square", ("x",), ("y",)),
        Op("sum", ("y",), ("z",), TOTAL),
        Grad(("z",), ("x",), ("g",), create_graph=True),
        Op("sum", ("g",), ("s",), TOTAL),
    ),
    "exact",
)
HOLDS_AT = {"at": [2, END], "before": [3, END], "until": [2, 3, END], "anywhere": [0, 1, 2, 3, END]}


@pytest.mark.parametrize("scope", SCOPES)
def test_a_scope_says_for_which_steps_a_condition_is_asked(scope: str) -> None:
    numbers = (*range(len(DERIVED.steps)), END)
    assert HOLDS_AT[scope] == [number for number in numbers if holds(f"{scope}: create_graph", DERIVED, number)]


def test_one_of_two_conditions_is_enough() -> None:
    assert [False, True] == [holds("at: batched or at: create_graph", DERIVED, number) for number in (1, 2)]


@pytest.mark.parametrize(("words", "bucket"), [("at: create_graph", Bucket.KNOWN_DEVIATION), ("before: create_graph", Bucket.DIVERGED)])
def test_an_engine_that_is_wrong_in_the_way_of_an_entry_but_out_of_its_scope_is_not_excused(
    monkeypatch: pytest.MonkeyPatch, words: str, bucket: Bucket
) -> None:
    entry = Deviation("a", "torch", "==2.13.*", ("grad",), ("value",), "because", "a", when=(words,), signature=("zeros",))
    monkeypatch.setattr(known_module, "about", lambda *_: (entry,))
    case = Case(DERIVED.inputs, DERIVED.steps[:3], "exact")
    actual = answer(case)
    actual.observations[2].values[0].array[...] = 0.0  # type: ignore[union-attr]
    assert bucket == judge(Promise(case, INFO), actual).bucket


@pytest.mark.parametrize(
    ("op", "attrs", "moves"),
    [
        ("reshape", {"shape": [2, 2]}, False),
        ("reshape", {"shape": [4]}, True),
        ("view", {"shape": [2, 2]}, True),
        ("tile", {"repeats": [1, 1]}, True),
        ("expand", {"shape": [2, 2]}, True),
        ("rot90", {"k": 4, "axes": [0, 1]}, False),
        ("rot90", {"k": 2, "axes": [0, 1]}, True),
    ],
)
def test_paddle_returns_the_operand_of_few_ops_that_move_nothing(op: str, attrs: dict[str, Any], moves: bool) -> None:
    case = Case((Input("x", (2, 2), (1.0, 2.0, 3.0, 4.0)),), (Op(op, ("x",), ("y",), attrs),))
    assert moves is not moves_nothing(case, 0)


@pytest.mark.parametrize("op", ["expand", "broadcast_to"])
def test_paddle_returns_what_is_expanded_to_no_axes(op: str) -> None:
    assert moves_nothing(Case((Input("x", (), (1.0,)),), (Op(op, ("x",), ("y",), {"shape": []}),)), 0)


def test_no_run_of_the_reference_tells_that_a_step_is_no_call(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(*_: Any) -> None:
        pytest.fail("the reference was run")

    case = Case((Input("x", (2,), (1.0, 2.0)),), (Op("reshape", ("x",), ("y",), {"shape": [2]}), Op("exp", ("y",), ("z",))))
    monkeypatch.setattr(calls, "promised", asked)
    assert not input_is_output(case, 1)
