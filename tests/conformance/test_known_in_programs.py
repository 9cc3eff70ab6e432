"""Programs that a campaign found red: known deviations, otherwise than in the case of their finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.case.case import Case, Input
from conformance.case.steps import (
    Grad,
    Op,
    SetRequiresGrad,
    Step,
)
from conformance.judge.verdict import Bucket
from tests.conformance.known_scripts import LINKED, V, W, X, ending, given

if TYPE_CHECKING:
    from conformance.campaign.workers.pool import Workers


def program(*steps: Step, inputs: tuple[Input, ...] = (X,)) -> Case:
    return Case(inputs, steps)


STOPPED = (Op("mul", ("x", "x"), ("y",)), Op("mul", ("y", "x"), ("z",)), SetRequiresGrad("y", requires_grad=False))
"""A variable with ``stop_gradient``, and another one that is made of it."""
ROW, SLICE = given("x", shape=(1,)), Op("getitem_slice", ("x",), ("y",), {"key": [[0, 1, 1]]})
"""What a slice takes everything of, which is its operand."""

SEEN = {
    "a target that stands three times": ("paddle-static-targets-coincide", program(Grad(("x", "x", "x"), ("x",), ("g",)))),
    "a result of a split that is used with one that is an input, and alone": (
        "paddle-static-input-hides-siblings",
        program(
            Op("split", ("x",), ("a", "b"), {"axis": 0, "sections": [1, 1]}),
            Op("mul", ("a", "b"), ("y",)),
            Op("mul", ("b", "b"), ("z",)),
            Grad(("y", "z", "b"), ("x", "a"), ("g", "h")),
            inputs=(given("x", 2.0, 3.0, shape=(2,)),),
        ),
    ),
    "a result of a split of which a part is a factor of it, and whose gradient in what was split is differentiated": (
        "paddle-static-slot-used-twice",
        program(
            Op("split", ("x",), ("a", "b"), {"axis": 0, "sections": [2, 2]}),
            Op("split", ("a",), ("c", "d"), {"axis": 0, "sections": [1, 1]}),
            Op("mul", ("c", "a"), ("y",)),
            Grad(("y",), ("x",), ("g",)),
            Grad(("g",), ("a",), ("h",)),
            inputs=(given("x", 2.0, 3.0, 4.0, 5.0, shape=(4,)),),
        ),
    ),
    "a result of a split that is a target itself, and is used for another": (
        "paddle-static-slot-beside-target",
        program(
            Op("split", ("x",), ("a", "b"), {"axis": 0, "sections": [1, 1]}),
            Op("mul_scalar", ("a",), ("y",), {"other": 2.0}),
            Grad(("y", "a"), ("a",), ("g",)),
            inputs=(given("x", 2.0, 3.0, shape=(2,)),),
        ),
    ),
    "a target that is cut, beside another of which the way is cut": (
        "paddle-static-no-grad-target",
        program(Op("gelu", ("x",), ("y",)), Grad(("x", "y"), ("x",), ("g",), no_grad_vars=("x",))),
    ),
    "one of two targets that are cut": (
        "paddle-static-no-grad-target",
        program(
            Op("roll", ("x",), ("y",), {"axis": 1, "shift": 0}),
            Op("topk", ("x",), ("z",), {"axis": 0, "k": 1}),
            Grad(("x", "y", "z"), ("x",), ("g",), no_grad_vars=("y", "z")),
            inputs=(given("x", shape=(1, 1)),),
        ),
    ),
    "a target that is what is cut by another name": (
        "paddle-static-no-grad-target",
        program(
            Op("getitem_slice", ("x",), ("y",), {"key": [[0, 1, 1]]}),
            Grad(("y",), ("x",), ("g",), no_grad_vars=("x",)),
            inputs=(given("x", shape=(1,)),),
        ),
    ),
    "a target that stops gradients, above another target": (
        "paddle-static-no-grad-target",
        program(*STOPPED, Grad(("y", "z"), ("x", "y"), ("g", "h"), ("v", "w"), allow_unused=True), inputs=(X, V, W)),
    ),
    "a target that is a constant, beside another one": (
        "paddle-static-no-grad-target",
        program(
            Op("mul", ("c", "x"), ("y",)),
            Grad(("c", "y"), ("x", "c"), ("g", "h"), allow_unused=True),
            inputs=(X, given("c", fixed=True)),
        ),
    ),
    "a target that stops gradients by another name": (
        "paddle-static-no-grad-target",
        program(
            Op("mul", ("v", "v"), ("z",)),
            Op("getitem_slice", ("x",), ("y",), {"key": [[0, 1, 1]]}),
            SetRequiresGrad("y", requires_grad=False),
            SetRequiresGrad("x", requires_grad=False),
            Grad(("y", "z"), ("x",), ("g",), allow_unused=True),
            inputs=(given("x", shape=(1,)), V),
        ),
    ),
    "a first operand that is cut": (
        "paddle-static-constant-first-double",
        program(
            Op("mul", ("w", "x"), ("y",)),
            Grad(("y",), ("x",), ("g",), ("v",), no_grad_vars=("w",)),
            Op("mul", ("g", "v"), ("z",)),
            Grad(("z",), ("v",), ("h",)),
            inputs=(X, V, W),
        ),
    ),
    "a sum with a constant in front, whose seed is made of the same input": (
        "paddle-static-constant-first-double",
        program(
            Op("add", ("c", "x"), ("y",)),
            Op("add", ("y", "x"), ("z",)),
            Grad(("z",), ("x",), ("g",), ("z",)),
            Grad(("g",), ("x",), ("h",)),
            inputs=(X, given("c", fixed=True)),
        ),
    ),
    "a seed of a difference from a number": (
        "paddle-static-sub-double-rank",
        program(
            Op("sub", ("x", "y"), ("d",)),
            Grad(("d",), ("x", "y"), ("g", "h"), ("v",)),
            Op("add", ("g", "g"), ("z",)),
            Op("sub", ("z", "h"), ("t",)),
            Grad(("t",), ("v",), ("k",)),
            inputs=(X, given("y", 2.0, shape=(1,)), given("v", shape=(1,))),
        ),
    ),
    "a seed in the gradient of a target in itself": (
        "paddle-static-gradient-is-seed",
        program(Grad(("x",), ("x",), ("g",), ("v",)), Grad(("v",), ("g",), ("h",)), inputs=(X, V)),
    ),
    "a square of a result of a split, of whose gradient in what was split there is another one": (
        "paddle-static-slot-used-twice",
        program(
            Op("split", ("x",), ("a", "b"), {"axis": 0, "sections": [1, 1]}),
            Op("mul", ("a", "a"), ("y",)),
            Grad(("y",), ("x",), ("g",)),
            Grad(("g",), ("a",), ("h",)),
            inputs=(given("x", 2.0, 3.0, shape=(2,)),),
        ),
    ),
    "a product of one factor that is zero": (
        "paddle-static-prod-zero",
        program(
            Op("prod", ("x",), ("y",), {"axis": 0, "keepdims": True}),
            Grad(("y",), ("x",), ("g",)),
            inputs=(given("x", 0.0, shape=(1,)),),
        ),
    ),
    "a size at infinity": (
        "paddle-static-abs-infinite",
        program(Op("abs", ("x",), ("y",)), Grad(("y",), ("x",), ("g",)), inputs=(given("x", -1.0, "-inf", shape=(2,)),)),
    ),
    "an expansion to no axes": (
        "paddle-static-slice-returns-operand",
        program(Op("expand", ("x",), ("y",), {"shape": []}, no_grad=True)),
    ),
    "a gradient in what stops gradients by another name": (
        "paddle-static-slice-returns-operand",
        program(SLICE, SetRequiresGrad("y", requires_grad=False), Grad(("x",), ("x",), ("g",), allow_unused=True), inputs=(ROW,)),
    ),
    "a product with what stops gradients by another name": (
        "paddle-static-slice-returns-operand",
        program(SLICE, SetRequiresGrad("x", requires_grad=False), Op("mul", ("y", "y"), ("z",)), inputs=(ROW,)),
    ),
    "a target that is cut, of an operator that has places beside it": (
        "paddle-static-no-grad-target-of-several",
        program(
            Op("topk", ("x",), ("y",), {"axis": 0, "k": 1}),
            Grad(("y",), ("x",), ("g",), no_grad_vars=("y",)),
            inputs=(given("x", 2.0, 3.0, shape=(2,)),),
        ),
    ),
    "a target that is cut, and the gradient in one of two factors": (
        "paddle-static-no-grad-target-of-several",
        program(
            Op("mul", ("x", "w"), ("y",)),
            Grad(("y",), ("x",), ("g",)),
            Grad(("g",), ("w",), ("h",), no_grad_vars=("g",), allow_unused=True),
            inputs=(X, W),
        ),
    ),
    "a target that is cut, and the gradient of a gradient in its seed": (
        "paddle-static-no-grad-target-of-several",
        program(
            Op("sin", ("x",), ("y",)),
            Grad(("y",), ("x",), ("g",), ("v",), **LINKED),
            Grad(("g",), ("v",), ("h",), **LINKED),
            Grad(("h",), ("x",), ("k",), no_grad_vars=("h",), allow_unused=True),
            inputs=(X, V),
        ),
    ),
    "a join of two inputs, one of which stops gradients between two derivatives": (
        "paddle-static-join-constant-double",
        program(
            Op("stack", ("x", "v"), ("y",), {"axis": 0}),
            SetRequiresGrad("v", requires_grad=False),
            Grad(("y",), ("x",), ("g",), ("s",)),
            Grad(("g",), ("s",), ("h",)),
            inputs=(X, V, given("s", 2.0, 3.0, shape=(2,))),
        ),
    ),
    "a removed seed that is the gradient of what divides a number": (
        "paddle-static-seed-removed-fetched",
        program(
            Op("rdiv_scalar", ("x",), ("y",), {"other": -1.036}),
            Grad(("y",), ("x",), ("g",)),
            Grad(("g",), ("v",), ("h",), ("g",), allow_unused=True),
            Grad(("y",), ("x",), ("k",), ("w",)),
            inputs=(X, V, given("w", 2.0)),
        ),
    ),
    "a removed seed in the place of which lies a derivative that nobody asked for": (
        "paddle-static-seed-removed-fetched",
        program(
            Op("squeeze", ("w",), ("v",), {"axis": 1}),
            Op("matmul", ("v", "x"), ("y",)),
            Grad(("y", "v"), ("x",), ("g",)),
            Grad(("g",), ("g",), ("h",), ("g",)),
            Grad(("y",), ("w",), ("k",), ("s",)),
            inputs=(
                given("w", -1.0, 0.0, 0.0, 0.0, shape=(2, 1, 2)),
                given("x", 0.0, -3.0, -2.0, 3.0, shape=(2, 2)),
                given("s", -1.0, -3.0, 2.0, -3.0, shape=(2, 2)),
            ),
        ),
    ),
}


@pytest.mark.parametrize("name", SEEN)
def test_a_known_deviation_is_known_in_this_program(name: str, workers: Workers) -> None:
    assert ending(SEEN, name, workers, "paddle-static") == (Bucket.KNOWN_DEVIATION, True)
