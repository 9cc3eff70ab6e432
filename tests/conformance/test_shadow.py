"""After a known deviation the comparison goes on: a second difference is found, unless it may be a consequence of the first."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from conformance.case.case import Case, Input
from conformance.case.outcome import Computed, Raised, Value
from conformance.case.place import END
from conformance.case.steps import Backward, ClearGrad, Grad, Op, RetainGrad
from conformance.compare.compare import Comparer
from conformance.compare.mismatch import POISON
from conformance.compare.promise import Promise
from reference_impl import Category
from tests.conformance.engines import INFO, answer

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.compare.comparison import Comparison
    from conformance.compare.mismatch import Mismatch

SCRIPT = Case(
    (Input("x", (), (2.0,)), Input("w", (), (3.0,))),
    (
        Op("square", ("x",), ("a",)),
        Op("square", ("w",), ("b",)),
        Op("neg", ("a",), ("c",)),
        Grad(("a",), ("x",), ("g",), retain_graph=True),
        Grad(("b",), ("w",), ("h",)),
        Grad(("c",), ("x",), ("k",)),
        Backward(("x",)),
        ClearGrad("x"),
        Backward(("w",)),
    ),
    "exact",
)
A, B, C, G, H, K, FIRST, CLEAR, SECOND = range(9)


@pytest.mark.parametrize("op", ["imag", "neg"])
def test_what_may_be_a_view_of_a_tensor_that_was_changed_is_no_second_difference(op: str) -> None:
    inputs = (Input("x", (), (2.0,)), Input("s", (), ((1.0, 2.0),), "complex64", differentiable=False))
    steps = (Op(op, ("s",), ("v",)), Op("real", ("s",), ("r",)), Backward(("x",), ("r",)), Op("neg", ("v",), ("w",)))
    case = Case(inputs, steps, "exact")
    actual = copy.deepcopy(answer(case))
    actual.observations[3].values[0].array[...] = 0.0  # type: ignore[union-attr]
    found = Comparer(Promise(case, INFO)).run(replace(actual, mutated=("s",)), lambda m: "known" if m.kind == "mutation" else None)
    assert (op == "neg") == (found.mismatch is not None)


def compared(*changes: Callable[[Any], None], damaging: bool = False) -> Comparison:
    """Compare a changed answer; the difference at the first changed place is known, or also that it leaves the process damaged."""
    actual = copy.deepcopy(answer(SCRIPT))
    for change in changes:
        change(actual)
    first: list[Mismatch] = []

    def known(found: Mismatch) -> str | None:
        first.append(found)
        if found.kind == POISON:
            return "damage" if damaging else None
        return "known" if first[0].step == found.step else None

    return Comparer(Promise(SCRIPT, INFO)).run(actual, known)


def wrong(step: int) -> Callable[[Any], None]:
    """Make the result of a step wrong."""

    def change(outcome: Any) -> None:
        outcome.observations[step].values = (Value(np.array(99.0, "float32"), outcome.observations[step].values[0].requires_grad),)

    return change


def held(step: int) -> Callable[[Any], None]:
    """Make a ``.grad`` after a step wrong."""

    def change(outcome: Any) -> None:
        state = outcome.observations[step].state
        outcome.observations[step].state = tuple(None if v is None else Value(v.array + 1, v.requires_grad) for v in state)

    return change


def refused(step: int, category: Category = Category.GRAPH_FREED) -> Callable[[Any], None]:
    """Have a step refused."""

    def change(outcome: Any) -> None:
        outcome.observations[step] = Raised(category, "no", getattr(outcome.observations[step], "state", None))

    return change


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (wrong(A), wrong(B)),
        (wrong(A), wrong(H)),
        (wrong(G), wrong(H)),
        (held(FIRST), held(SECOND)),
        (refused(G), wrong(H)),
        (wrong(G), held(SECOND)),
    ],
    ids=[
        "another op",
        "a call over another graph",
        "another call",
        "a .grad that was cleared",
        "after a refusal",
        "a .grad that no call shared",
    ],
)
def test_a_second_difference_that_has_nothing_to_do_with_a_known_one_is_found(first: Any, second: Any) -> None:
    assert compared(first, second).mismatch is not None


@pytest.mark.parametrize(
    ("first", "second"),
    [(wrong(A), wrong(C)), (wrong(A), wrong(K)), (wrong(G), wrong(K)), (refused(G), refused(K))],
    ids=["an op on the value", "a call over the value", "a call over the same nodes", "a refusal over the same nodes"],
)
def test_a_consequence_of_a_known_deviation_is_set_aside(first: Any, second: Any) -> None:
    found = compared(first, second)
    assert (None, 1) == (found.mismatch, len(found.shadowed))


def test_what_is_set_aside_is_counted() -> None:
    assert compared(wrong(A), wrong(C)).counts["shadowed"] == 1


def test_the_steps_that_agree_after_a_known_deviation_count_as_compared() -> None:
    found = compared(wrong(A))
    assert ([B, C, G, H, K, FIRST, CLEAR, SECOND], 8) == (found.steps, found.counts["after_known"])


def test_without_a_known_deviation_nothing_is_set_aside() -> None:
    actual = copy.deepcopy(answer(SCRIPT))
    wrong(A)(actual)
    found = Comparer(Promise(SCRIPT, INFO)).run(actual)
    assert (A, [], []) == (found.mismatch.step if found.mismatch else None, found.shadowed, found.steps)


def test_a_result_that_agrees_although_it_lies_in_the_shadow_counts_as_compared() -> None:
    assert K in compared(wrong(G)).steps


def test_a_case_that_computes_what_it_should_has_no_known_deviation() -> None:
    found = compared()
    assert isinstance(answer(SCRIPT).observations[A], Computed)
    assert (None, []) == (found.mismatch, found.known)


@pytest.mark.parametrize(("slot", "shadowed"), [(0, True), (1, False)])
def test_a_changed_seed_puts_the_grad_that_it_was_added_to_into_the_shadow(slot: int, shadowed: bool) -> None:
    seed = Input("s", (), (1.0,), differentiable=False)
    case = Case((*SCRIPT.inputs, seed), (Op("neg", ("x",), ("a",)), Backward(("a",), ("s",)), Backward(("w",))), "exact")
    actual = copy.deepcopy(answer(case))
    actual.mutated = ("s",)
    held_at_the_end = list(actual.final)
    held_at_the_end[slot] = Value(np.array(99.0, "float32"), requires_grad=False)
    actual.final = tuple(held_at_the_end)
    found = Comparer(Promise(case, INFO)).run(actual, lambda m: "known" if m.kind == "mutation" else None)
    assert shadowed == (found.mismatch is None)


def test_a_grad_that_a_known_deviation_fed_is_set_aside_after_the_last_step_too() -> None:
    """The call in the shadow reaches x, which the script does not tell: only what differed there says so."""
    case = Case(
        (Input("x", (), (2.0,)), Input("w", (), (3.0,))),
        (Op("square", ("w",), ("b",)), Backward(("b",), inputs=("w",))),
        "exact",
    )
    actual: Any = copy.deepcopy(answer(case))
    actual.observations[0].values = (Value(np.array(99.0, "float32"), requires_grad=True),)
    fed = (Value(np.array(1.0, "float32"), requires_grad=False), *actual.final[1:])
    actual.observations[1].state, actual.final = fed, fed
    found = Comparer(Promise(case, INFO)).run(actual, lambda m: "known" if m.step == 0 else None)
    assert (None, [1, END]) == (found.mismatch, [m.step for m in found.shadowed])


def test_a_deviating_call_puts_the_grads_of_siblings_of_its_values_into_the_shadow() -> None:
    """A node answers for all its outputs: one that is freed or not is so for each of them."""
    case = Case(
        (Input("x", (2,), (1.0, 2.0)),),
        (Op("chunk", ("x",), ("a", "b"), {"axis": 0, "sections": [1, 1]}), RetainGrad("a"), Grad(("b",), ("x",), ("g",))),
        "exact",
    )
    actual: Any = copy.deepcopy(answer(case))
    call = actual.observations[2]
    retained = tuple(Value(np.zeros(1, "float32"), requires_grad=False) if name == "a" else None for name in case.watched)
    actual.observations[2] = Computed((Value(np.array([9.0, 9.0], "float32"), call.values[0].requires_grad),), retained)
    actual.final = retained
    found = Comparer(Promise(case, INFO)).run(actual, lambda m: "known" if m.where == "result" else None)
    assert (None, {"a"}) == (found.mismatch, {m.name for m in found.shadowed})


@pytest.mark.parametrize("damaging", [False, True])
def test_an_error_inside_the_engine_puts_what_it_cannot_reach_into_the_shadow_only_if_it_is_known_to_do_damage(damaging: bool) -> None:
    found = compared(refused(A, Category.UNMAPPED), wrong(H), damaging=damaging)
    assert damaging == (found.mismatch is None)


@pytest.mark.parametrize("step", [A, G], ids=["an op", "a call"])
def test_a_grad_that_an_error_inside_the_engine_could_not_reach_is_judged(step: int) -> None:
    found = compared(refused(step, Category.UNMAPPED), held(SECOND))
    assert found.mismatch is not None
    assert (SECOND, "grad", "w") == (found.mismatch.step, found.mismatch.where, found.mismatch.name)


def test_what_an_error_inside_the_engine_could_reach_is_in_the_shadow() -> None:
    found = compared(refused(G, Category.UNMAPPED), wrong(K))
    assert (None, [K]) == (found.mismatch, [m.step for m in found.shadowed])
