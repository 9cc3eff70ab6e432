"""What no engine of a run offers is in no script, and what stays of the script computes the same."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from conformance.backends.reference import reference
from conformance.case.case import Case, Input
from conformance.case.files import is_right
from conformance.case.outcome import Computed
from conformance.case.steps import Backward, Custom, Edge, Grad, Hook, InPlace, Op, RemoveHook, results
from conformance.generate.offered import BY_PARAMETER, LEFT_OUT, as_offered
from conformance.generate.scripts import DrawOptions, case_of
from reference_impl import TORCH

WITHOUT = (*LEFT_OUT, *BY_PARAMETER, "step:edge", "gradient_edge")
X = Input("x", (3,), (0.5, -1.0, 2.0))
FUNCTION = Custom(
    ("x", "w"),
    ("u", "v"),
    (Op("exp", ("x",), ("e",)), Op("mul", ("e", "w"), ("m",))),
    ("m", "x"),
    ("c", "d"),
    ("c", "d"),
)


def values(case: Case) -> dict[str, np.ndarray]:
    """Return what the reference computes."""
    seen = zip(case.steps, reference(TORCH, {}).run(case).observations, strict=True)
    return {n: v.array for s, o in seen if isinstance(o, Computed) for n, v in zip(results(s), o.values, strict=False) if v is not None}


@functools.cache
def drawn() -> list[Case]:
    """Draw some cases for a small engine, once for all words."""
    return [case_of(1, i, DrawOptions(changing=1.0, without=WITHOUT)) for i in range(60)]


@pytest.mark.parametrize("word", WITHOUT)
def test_no_script_has_what_nobody_offers(word: str) -> None:
    assert not [case.id for case in drawn() for needed in case.needs if word in needed]


def test_what_is_left_of_a_script_is_one_that_can_be_run() -> None:
    assert not [case.id for case in drawn() if not is_right(case)]


def test_a_script_without_no_grad_vars_hands_nothing_over_as_a_set() -> None:
    step = Grad(("y",), ("x",), ("g",), no_grad_vars=("c",), form="set")
    assert [Grad(("y",), ("x",), ("g",))] == as_offered([step], ("no_grad_vars",))


def test_a_custom_function_is_applied_op_by_op() -> None:
    inputs = X, Input("w", (3,), (1.0, 2.0, 3.0))
    whole, parts = (Case(inputs, tuple(steps)) for steps in ([FUNCTION], as_offered([FUNCTION], ("step:custom",))))
    assert {"exp", "mul", "clone"} == {step.op for step in parts.steps if isinstance(step, Op)}
    for name in FUNCTION.results:
        np.testing.assert_array_equal(values(whole)[name], values(parts)[name])


def test_what_is_written_in_place_is_computed_out_of_place() -> None:
    steps = [
        Op("exp", ("x",), ("y",)),
        InPlace("mul_scalar", "y", (), {"other": 2.0}),
        InPlace("add", "y", ("x",)),
        Op("neg", ("y",), ("z",)),
    ]
    whole, parts = Case((X,), tuple(steps)), Case((X,), tuple(as_offered(steps, ("step:in_place",))))
    np.testing.assert_array_equal(values(whole)["z"], values(parts)["z"])


def test_with_a_hook_goes_what_removes_it() -> None:
    steps = [Op("exp", ("x",), ("y",)), Hook("y", ("h",), "nothing"), RemoveHook("h"), Backward(("y",))]
    assert [steps[0], steps[3]] == as_offered(steps, ("step:hook",))


def test_the_tensor_stands_for_its_edge() -> None:
    steps = [Op("exp", ("x",), ("y",)), Edge("y", ("e",)), Grad(("e",), ("x",), ("g",))]
    assert [steps[0], Grad(("y",), ("x",), ("g",))] == as_offered(steps, ("step:edge",))
