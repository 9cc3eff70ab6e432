"""How every kind of step reads, and how what was observed at it reads."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from conformance.case.files import check
from conformance.case.outcome import Computed, Event, Raised, Value
from conformance.case.prose import observation_text, options_of, step_text
from conformance.case.steps import AppendBackward, Backward, ClearGrad, Custom, Grad, Hook, InPlace, Op, Step, results, uses
from reference_impl import Category
from tests.conformance.drawn import Drawn

from .samples import EVERY_KIND

DRAWN = Drawn(7, 200)
SEEN = Value(np.array([1.0, 0.5], dtype=np.float32), requires_grad=False)


def words_of(text: str) -> set[str]:
    return set("".join(c if c.isalnum() or c == "_" else " " for c in text).split())


def test_the_sample_is_a_case_with_every_kind_of_step() -> None:
    check(EVERY_KIND)
    assert set(get_args(Step)) == {type(step) for step in EVERY_KIND.steps}


@pytest.mark.parametrize("step", EVERY_KIND.steps, ids=lambda step: type(step).__name__)
def test_a_step_names_what_it_uses_and_makes(step: Step) -> None:
    assert {*(name for _, name in uses(step)), *results(step)} <= words_of(step_text(step))


def test_steps_that_differ_read_differently() -> None:
    said: dict[str, Step] = {}
    assert all(
        said.setdefault(step_text(step), step) == step for step in (*(s for case in DRAWN for s in case.steps), *EVERY_KIND.steps)
    )


def test_what_is_left_at_its_default_is_not_said() -> None:
    assert step_text(Grad(("y",), ("x",), ("g",))) == "g = grad([y], [x])"


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (Op("sum", ("x",), ("y",), {"axis": 0}), ["axis=0"]),
        (InPlace("mul_scalar", "x", (), {"other": 2.0}), ["other=2.0"]),
        (Grad(("y",), ("x",), ("g",), only_inputs=False, retain_graph=False), ["retain_graph=False", "only_inputs=False"]),
        (Backward(("y",), ("s",), dump_backward_graph=True, form="bare"), ["dump_backward_graph=True", "form=bare"]),
        (ClearGrad("x"), ["to=none"]),
        (Hook("x", ("h",), "scaled", factor=0.5), ["returning g * 0.5"]),
        (Hook("x", ("h",), "error"), ["returning an error"]),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Step) else None,
)
def test_what_a_step_is_given_is_said(step: Step, said: list[str]) -> None:
    assert said == options_of(step)


def test_a_custom_function_has_a_line_for_each_direction() -> None:
    (custom,) = [step for step in EVERY_KIND.steps if isinstance(step, Custom)]
    assert step_text(custom).splitlines() == [
        "v2, v3 = custom(v0, x1)",
        "\tforward: f0 = mul(v0, x1); f1 = neg(x1); saves x1; returns f0, f1",
        "\tbackward(x1, g0, g1): b0 = mul(g0, x1); returns b0, None",
    ]


def told(kind: type[Step], *events: Event) -> str:
    step = next(step for step in EVERY_KIND.steps if isinstance(step, kind))
    return observation_text(EVERY_KIND, step, Computed(events=events))


def test_a_call_of_a_hook_says_what_it_saw() -> None:
    assert told(Backward, Event("h0", SEEN, recording=True)) == "h0 saw float32[2] [1, 0.5], while recording"


def test_a_hook_that_was_given_nothing_says_so() -> None:
    assert told(Backward, Event("h0")) == "h0 saw None"


def test_what_changed_with_an_in_place_step_is_named() -> None:
    assert told(InPlace, Event("v1", SEEN)) == "also v1 = float32[2] [1, 0.5]"


def test_a_callback_says_for_whose_gradient() -> None:
    assert told(AppendBackward, Event("v0")) == "callback at v0"


def test_what_else_was_noted_stands_as_it_is() -> None:
    assert told(Backward, Event(".dot")) == ".dot"


def test_calls_before_a_refusal_stand_before_it() -> None:
    seen = Raised(Category.GRAPH_FREED, "gone", events=(Event("h0", SEEN),))
    assert observation_text(EVERY_KIND, EVERY_KIND.steps[11], seen) == "h0 saw float32[2] [1, 0.5]; refused: graph_freed (gone)"


def test_a_tensor_that_cannot_be_read_says_why() -> None:
    broken = Value(np.array([]), requires_grad=False, unreadable="batched")
    assert told(Backward, Event("h0", broken)) == "h0 saw unreadable (batched)"
