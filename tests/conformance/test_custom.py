"""Custom functions as steps: the frameworks do what the reference says, and so does the script that is printed for them."""

from __future__ import annotations

import functools
import itertools
import math
from typing import TYPE_CHECKING

import pytest

from conformance.backends.reference import reference
from conformance.campaign.findings.explain import explain_case
from conformance.campaign.findings.shrink import shrink_case
from conformance.campaign.records.fingerprint import fingerprint_of
from conformance.campaign.workers.pool import Workers
from conformance.campaign.workers.trial import run_case
from conformance.case.case import Case, Input
from conformance.case.files import CaseError, check
from conformance.case.outcome import Computed, Raised
from conformance.case.steps import Backward, Custom, Grad, Op, SetRequiresGrad
from conformance.compare.mismatch import Mismatch
from conformance.generate.scripts import DrawOptions, case_of
from conformance.judge.reproduction import reproduction
from conformance.laws.judging import Judging
from conformance.mutants.registry import mutant
from conformance.report.catalogue.verify import Showing, said_by
from reference_impl import PADDLE
from tests.conformance import judged
from tests.conformance.engines import unseen
from tests.wrong_engines import correct

if TYPE_CHECKING:
    from collections.abc import Iterator

X = Input("x", (2,), (2.0, 3.0))
W = Input("w", (2,), (5.0, 7.0))
CONSTANT = Input("k", (2,), (5.0, 7.0), differentiable=False)


def scaled(operand: str, result: str, other: float) -> Op:
    return Op("mul_scalar", (operand,), (result,), {"other": other})


SQUARE = Custom(
    operands=("x",),
    results=("y",),
    forward=(Op("mul", ("x", "x"), ("f",)),),
    outputs=("f",),
    cotangents=("c",),
    gradients=("b",),
    backward=(Op("mul", ("c", "x"), ("a",)), scaled("a", "b", 2.0)),
    saved=("x",),
)
EXPONENTIAL = Custom(
    ("x",), ("y",), (Op("exp", ("x",), ("f",)),), ("f",), ("c",), ("b",), (Op("mul", ("c", "f"), ("b",)),), saved=("f",)
)
TWO = Custom(
    operands=("x",),
    results=("y", "z"),
    forward=(scaled("x", "f", 2.0), scaled("x", "h", 3.0)),
    outputs=("f", "h"),
    cotangents=("c", "d"),
    gradients=("b",),
    backward=(scaled("c", "a", 10.0), Op("add", ("a", "d"), ("b",))),
)


def product(*gradients: str | None, of: tuple[str, str] = ("x", "w"), no_grad: bool = False) -> Custom:
    """A product; its backward may return the gradients ``a`` and ``b``, or the wide ``e``."""
    made = (Op("mul", ("c", of[1]), ("a",)), Op("mul", ("c", of[0]), ("b",)), Op("unsqueeze", ("a",), ("e",), {"axis": 0}))
    forward = (Op("mul", of, ("f",)),)
    return Custom(of, ("y",), forward, ("f",), ("c",), gradients, made, of, no_grad=no_grad)


def derivatives(order: int) -> tuple[Grad, ...]:
    names = ["y", *(f"g{i}" for i in range(order))]
    return tuple(Grad((below,), ("x",), (above,), create_graph=True) for below, above in itertools.pairwise(names))


SEEDED = Backward(("y",), ("w",))
TORCH_ALONE = {
    "a second pass over what saved is refused": Case((X, W), (SQUARE, SEEDED, SEEDED)),
    "a second pass over what saved nothing is not": Case((X, W), (TWO, SEEDED, SEEDED)),
    "a retained graph is walked again": Case((X, W), (SQUARE, Backward(("y",), ("w",), retain_graph=True), SEEDED)),
    "None goes through the ops below": Case(
        (X, W),
        (Op("sin", ("x",), ("v",)), product(None, "b", of=("v", "w")), Grad(("y",), ("x", "w"), ("g", "h"), ("w",), allow_unused=True)),
    ),
    "None for an input makes it unreachable": Case((X, W), (product("a", None), Grad(("y",), ("x", "w"), ("g", "h"), ("w",)))),
    "an operand is returned": Case((X, W), (Custom(("x",), ("y",), (), ("x",), ("c",), ("b",), (scaled("c", "b", 7.0),)), SEEDED)),
    "a gradient is asked for one operand": Case((X, W), (product("a", "b"), Grad(("y",), ("w",), ("g",), ("x",)))),
    "a wider gradient": Case((X, W, CONSTANT), (product("e", "b"), Backward(("y",), ("k",)))),
    "a gradient of a shape that does not fit": Case(
        (X, W, CONSTANT),
        (
            Custom(("x",), ("y",), (scaled("x", "f", 2.0),), ("f",), ("c",), ("b",), (Op("unsqueeze", ("c",), ("b",), {"axis": 1}),)),
            Backward(("y",), ("k",)),
        ),
    ),
    "a gradient of another dtype": Case(
        (X, W),
        (
            Custom(
                ("x",), ("y",), (scaled("x", "f", 2.0),), ("f",), ("c",), ("b",), (Op("cast", ("c",), ("b",), {"dtype": "float64"}),)
            ),
            Grad(("y",), ("x",), ("g",), ("w",)),
        ),
    ),
    "the same gradient for two operands": Case((X, W, CONSTANT), (product("a", "a"), Backward(("y",), ("k",)))),
}
BOTH = {
    "the first derivative": Case((X, W), (SQUARE, Grad(("y",), ("x",), ("g",), ("w",)))),
    "one output is used": Case((X, W), (TWO, Grad(("z",), ("x",), ("g",), ("w",)))),
    "both outputs are used": Case((X, W), (TWO, Op("mul", ("y", "z"), ("t",)), Grad(("t",), ("x",), ("g",), ("w",)))),
    "an output is used twice": Case((X, W), (SQUARE, Op("mul", ("y", "y"), ("t",)), Grad(("t",), ("x",), ("g",), ("w",)))),
    "the same operand twice": Case((X, W), (product("a", "b", of=("x", "x")), Grad(("y",), ("x",), ("g",), ("w",)))),
    "a constant operand": Case((X, CONSTANT), (product("a", None, of=("x", "k")), Grad(("y",), ("x",), ("g",), ("k",)))),
    "a gradient for a constant": Case((X, CONSTANT), (product("a", "b", of=("x", "k")), Grad(("y",), ("x",), ("g",), ("k",)))),
    "a gradient left out": Case((X, W), (product("a"), SEEDED)),
    "a gradient left out of a constant": Case((X, CONSTANT), (product("a", of=("x", "k")), Grad(("y",), ("x",), ("g",), ("k",)))),
    "no gradient at all": Case((X, W), (product(), SEEDED)),
    "a gradient too many": Case((X, W), (product("a", "b", "a"), SEEDED)),
    "a None too many": Case((X, W), (product("a", "b", None), Grad(("y",), ("x", "w"), ("g", "h"), ("x",)))),
    "None for a leaf": Case((X, W), (product("a", None), Grad(("y",), ("x", "w"), ("g", "h"), ("w",), allow_unused=True))),
    "of constants nothing is recorded": Case((CONSTANT, X), (product("a", "b", of=("k", "k")), Op("mul", ("y", "x"), ("t",)))),
    "nothing is recorded in a no_grad region": Case((X, W), (product("a", "b", no_grad=True),)),
    "an op fails in the backward": Case(
        (X, W),
        (
            Custom(("x",), ("y",), (scaled("x", "f", 2.0),), ("f",), ("c",), ("b",), (Op("reshape", ("c",), ("b",), {"shape": [7]}),)),
            Grad(("y",), ("x",), ("g",), ("w",)),
        ),
    ),
    **{f"derivative {n} through a saved operand": Case((X,), (SQUARE, *derivatives(n))) for n in (2, 3)},
    **{f"derivative {n} through a saved output": Case((X,), (EXPONENTIAL, *derivatives(n))) for n in (2, 3)},
}
NAMED = [(name, "torch") for name in (*BOTH, *TORCH_ALONE)] + [(name, "paddle") for name in BOTH]
CASES = {**BOTH, **TORCH_ALONE}


@pytest.mark.parametrize(("name", "framework"), NAMED)
def test_a_framework_does_what_the_reference_says(workers: Workers, name: str, framework: str) -> None:
    found = judged.verdicts(workers, framework, CASES if framework == "torch" else BOTH)[name]
    assert found.bucket in ("agreed", "same_error", "nothing_compared"), found


@pytest.mark.parametrize("framework", ["torch", "paddle"])
@pytest.mark.parametrize(("where", "elements"), [("event", "[5.0, 7.0]"), ("grad", "[20.0, 42.0]")], ids=["cotangents", "gradient"])
def test_the_printed_script_asserts_what_the_backward_saw_and_gave(workers: Workers, framework: str, where: str, elements: str) -> None:
    found = Mismatch(1, "value", where, "right", "wrong", "")
    text = reproduction(Case((X, W), (product("a", "b", of=("x", "x")), SEEDED)), framework, found)
    assert (True, (Showing.GONE, "")) == (elements in text, workers.call(said_by, text))


# The language.


def problem_of(step: Custom) -> str:
    with pytest.raises(CaseError) as caught:
        check(Case((X,), (step,)), "case")
    return str(caught.value)


def test_the_backward_knows_what_was_saved_and_nothing_else() -> None:
    step = Custom(("x",), ("y",), (scaled("x", "f", 2.0),), ("f",), ("c",), ("b",), (Op("mul", ("c", "f"), ("b",)),))
    assert "steps[0].backward[0].operands: 'f' is not known in the backward" in problem_of(step)


def test_one_value_cannot_be_two_outputs() -> None:
    step = Custom(("x",), ("y", "z"), (scaled("x", "f", 2.0),), ("f", "f"), ("c", "d"), ("c",))
    assert "steps[0].outputs: names one value twice" in problem_of(step)


# Reduction.


def test_the_body_of_a_custom_function_is_shrunk() -> None:
    name = "conformance.mutants.engines:surplus_gradients_ignored"
    longer = (scaled("c", "a", 2.0), scaled("a", "b", 3.0), Op("mul", ("b", "f"), ("d",)))
    step = Custom(("x",), ("y",), (Op("mul", ("x", "x"), ("f",)),), ("f",), ("c",), ("b", "d"), longer, saved=("x", "f"))
    case = Case((X, W), (step, SEEDED))
    with Workers((name,), 1) as opened:
        fingerprint = fingerprint_of(name, opened.call(explain_case, case, name).verdict)
        shrunk = shrink_case(opened, case, fingerprint, Judging(timeout=20.0), math.inf).case.steps[0]
    assert isinstance(shrunk, Custom)
    assert ((), (), ("c", "c")) == (shrunk.backward, shrunk.saved, shrunk.gradients)


# Drawing.


@functools.cache
def drawn() -> list[Case]:
    """Draw cases of which many have custom functions."""
    return [case_of(1, i, DrawOptions(customs=0.4)) for i in range(450)]


def test_drawn_custom_functions_are_valid() -> None:
    for case in drawn():
        check(case)


@pytest.mark.parametrize("share", [1, 2])
def test_one_and_two_outputs_are_drawn(share: int) -> None:
    assert any(isinstance(step, Custom) and len(step.outputs) == share for case in drawn() for step in case.steps)


def test_second_derivatives_through_custom_functions_are_drawn() -> None:
    custom = [case for case in drawn() if any(isinstance(step, Custom) for step in case.steps)]
    deep = [case for case in custom if any(isinstance(step, Grad) and step.create_graph for step in case.steps)]
    assert len(deep) > 50


def test_no_custom_function_is_drawn_where_the_ops_are_given() -> None:
    cases = [case_of(1, i, DrawOptions(ops=("mul",), customs=1.0)) for i in range(50)]
    assert not any(isinstance(step, Custom) for case in cases for step in case.steps)


def test_a_refused_rule_leaves_the_flags_of_its_operands_as_they_were() -> None:
    shrunk = Custom(("x",), ("y",), (), ("x",), ("c",), ("b",), (Op("sum", ("c",), ("b",), {"axis": None, "keepdims": False}),))
    steps = (scaled("x", "a", 1.0), shrunk, SetRequiresGrad("x", requires_grad=False), Grad(("y",), ("x",), ("g",), create_graph=True))
    refused, later = reference(PADDLE, PADDLE.not_offered).run(Case((X,), (*steps, scaled("x", "z", 2.0)))).observations[-2:]
    assert isinstance(refused, Raised)
    assert isinstance(later, Computed)
    assert [False] == [value.requires_grad for value in later.values if value is not None]


# Wrong engines.

FAULTS = {
    "surplus_gradients_ignored": {("grad", "error", "callback_result", "computed")},
    "cotangents_not_materialised": {("grad", "error", "computed", "callback")},
    "custom_backward_not_recorded": {("grad", "flag", "recording", "not recording")},
    "saved_operands_detached": {("grad", "value", "right", "wrong")},
}


def differences(name: str) -> Iterator[tuple[str, ...]]:
    engine = correct() if name == "correct" else mutant(name).open()
    found = (run_case(case, [engine]).verdicts[name] for case in drawn())
    return ((m.at, m.kind, m.expected, m.actual) for v in found if v.bucket == "diverged" and (m := v.mismatch))


@pytest.mark.parametrize("name", FAULTS)
def test_a_wrong_engine_is_found_out(name: str) -> None:
    assert not unseen(FAULTS[name], differences(name))


def test_a_right_engine_is_not() -> None:
    assert not list(differences("correct"))
