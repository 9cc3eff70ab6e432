"""Scripts that a campaign found red: known deviations of calls, hooks and views, otherwise than in the case of their finding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest

from conformance.campaign.findings.explain import explain_case
from conformance.case.case import Case, Input
from conformance.case.steps import (
    Backward,
    Custom,
    Edge,
    Grad,
    Hook,
    InPlace,
    Op,
    RemoveHook,
    RetainGrad,
    SetRequiresGrad,
    Step,
)
from conformance.judge.verdict import Bucket
from tests.conformance.engines import TOTAL
from tests.conformance.known_scripts import LINKED, SPLIT, V, X, ending, given, in_itself

if TYPE_CHECKING:
    from conformance.campaign.workers.pool import Workers


def removed_after_write(*more: Step, returns: Literal["nothing", "scaled"] = "nothing", factor: float | None = None) -> Case:
    """A hook on a product that is removed after the product was written to."""
    hook, made = Hook("y", ("k",), returns, factor), Op("mul_scalar", ("x",), ("y",), {"other": 3.0})
    return Case((given("x"),), (made, hook, InPlace("mul_scalar", "y", (), {"other": 2.0}), *more, RemoveHook("k"), Backward(("y",))))


SEEN = {
    "a hook on a result that is neither the output nor the input": (
        "paddle-output-beside-input-hook",
        Case(
            (given("x", 1.0, 2.0, 3.0, shape=(3,)),),
            (
                Op("unbind", ("x",), ("a", "b", "c"), {"axis": 0}),
                Hook("b", ("k",), "nothing"),
                Grad(("c",), ("a",), ("g",), allow_unused=True),
            ),
        ),
    ),
    "a gradient of a view that a custom function hands on to an activation": (
        "paddle-captured-overwritten",
        Case(
            (given("x", -3.0, shape=(1, 1)),),
            (
                Op("leaky_relu", ("x",), ("y",), {"slope": 0.5}),
                Custom(
                    ("y", "x"),
                    ("c",),
                    (Op("square", ("x",), ("f",)),),
                    ("f",),
                    ("d",),
                    ("d", "b"),
                    (Op("add_scalar", ("d",), ("b",), {"other": 1.0}),),
                ),
                Op("squeeze", ("c",), ("s",), {"axis": 1}),
                Op("sum", ("s",), ("t",), TOTAL),
                Grad(("t",), ("x", "s"), ("g", "h")),
            ),
        ),
    ),
    "a handle that undoes what retains the gradient": ("paddle-hook-removed-after-write", removed_after_write(RetainGrad("y"))),
    "a hook that scales and is not removed": ("paddle-hook-removed-after-write", removed_after_write(returns="scaled", factor=4.0)),
    "roots beside a result that is cut off above another root": (
        "paddle-no-grad-vars-root-lost",
        Case(
            (given("x", 1.0, 2.0, 3.0, shape=(3,)),),
            (
                Op("split", ("x",), ("a", "b", "c"), {"axis": 0, "sections": [1, 1, 1]}),
                Op("add", ("c", "c"), ("y",)),
                Grad(("y", "a", "b"), ("x",), ("g",), allow_unused=True, no_grad_vars=("c",)),
            ),
        ),
    ),
    "a root that another is made of by way of what is cut": (
        "paddle-no-grad-vars-root-lost",
        Case(
            (given("x", 2.0),),
            (
                Op("mul", ("x", "x"), ("r",)),
                Op("mul", ("r", "r"), ("k",)),
                Op("mul", ("k", "k"), ("y",)),
                Grad(("r", "y"), ("x",), ("g",), no_grad_vars=("k",)),
            ),
        ),
    ),
    "an output that is an input and the target of another one": (
        "paddle-output-among-inputs",
        Case(
            (given("x", 0.25), given("t", 0.5)),
            (
                Op("binary_cross_entropy_in_target", ("x", "t"), ("y",), {"weight": None, "reduction": "sum"}),
                Grad(("t", "y"), ("x", "t"), ("g", "h"), allow_unused=True),
            ),
        ),
    ),
    "an output that is an input and the bound of another one": (
        "paddle-output-among-inputs",
        Case(
            (given("x", 0.5, 2.0, shape=(2,)), given("b", 1.0), given("c", 3.0)),
            (
                Op("clamp_high_tensor", ("x", "b"), ("y",)),
                Op("mul", ("c", "c"), ("z",)),
                Grad(("b", "y", "z"), ("c", "b"), ("g", "h"), allow_unused=True),
            ),
        ),
    ),
    "a hook on a seed by the name of its gradient": (
        "paddle-leaf-hook-not-in-grad",
        Case(
            (X, V),
            (
                in_itself("x", "g", "v", **LINKED),
                Op("neg", ("g",), ("y",)),
                Hook("g", ("k",), "nothing"),
                Grad(("y",), ("x", "v"), ("h", "i"), allow_unused=True),
            ),
        ),
    ),
    "a hook without elements before an op that is not offered": (
        "paddle-hook-empty-unchecked",
        Case(
            (X, Input("v", (0,), ())),
            (Op("complex", ("x", "v"), ("y",)), Hook("y", ("k",), "another_dtype"), Grad(("y",), ("x",), ("g",), **LINKED)),
        ),
    ),
    "an assignment in place": (
        "paddle-setitem-leaf-drawn",
        Case(
            (given("x", 2.0, shape=(1,)), given("c", 1.0, 1.0, shape=(2,), fixed=True)),
            (InPlace("setitem", "c", ("x",), {"key": [[0, 1, 1]]}), Backward(("c",), dump_backward_graph=True)),
        ),
    ),
    "a write through a view, before what is not offered": (
        "paddle-view-write-gradient",
        Case(
            (given("x", 1.0, 2.0, 3.0, shape=(3,), dtype="float64"),),
            (
                Op("split", ("x",), ("u", "v"), SPLIT),
                InPlace("square", "v", ()),
                Op("sum", ("v",), ("y",), TOTAL),
                Grad(("y",), ("x",), ("g",), **LINKED),
                Op("sum", ("g",), ("t",), TOTAL),
                Grad(("t",), ("x",), ("h",), **LINKED),
            ),
        ),
    ),
    "a retained gradient of a complex view of real parts": (
        "paddle-retained-aliases-leaf",
        Case(
            (given("z", (1.0, 2.0), (3.0, 4.0), shape=(2,), dtype="complex64"), given("s", (5.0, 6.0), dtype="complex64", fixed=True)),
            (
                Op("real", ("z",), ("r",)),
                Op("as_complex", ("r",), ("c",)),
                RetainGrad("c"),
                Op("as_complex", ("r",), ("d",)),
                Op("neg", ("d",), ("t",)),
                Backward(("t", "c"), ("s", "s")),
            ),
        ),
    ),
    "damage by the second of two refusals": (
        "paddle-refusal-stops-recording",
        Case(
            (given("x", shape=(1, 1)), given("s", 2.0, 1.0, shape=(2, 1), fixed=True), V),
            (
                Op("repeat_interleave", ("x",), ("y",), {"axis": 1, "repeats": 2}),
                Grad(("v",), ("x",), ("g",)),
                Op("reshape", ("y",), ("r",), {"shape": [2, 1, 1]}),
                Op("sum", ("r",), ("t",), TOTAL),
                Grad(("t",), ("x",), ("h",), **LINKED),
                Backward(("h",), ("s",)),
            ),
        ),
    ),
    "an edge as a root": (
        "torch-edge-of-toggled-leaf-root",
        Case((X,), (Edge("x", ("e",)), SetRequiresGrad("x", requires_grad=False), Grad(("e",), ("x",), ("g",)))),
    ),
    "an edge as a root that reaches nothing": (
        "torch-edge-of-toggled-leaf",
        Case((X, V), (Edge("x", ("e",)), SetRequiresGrad("x", requires_grad=False), Grad(("e",), ("v",), ("g",)))),
    ),
    "a custom function below a cut": (
        "paddle-no-grad-vars-still-run",
        Case(
            (X,),
            (
                Op("neg", ("x",), ("y",)),
                Custom(("y", "y"), ("c",), (Op("mul", ("y", "y"), ("f",)),), ("f",), ("d",), ("d", "d", None)),
                Grad(("c",), ("x",), ("g",), no_grad_vars=("x",)),
            ),
        ),
    ),
    "a hook of another shape above an op that has no second derivative": (
        "paddle-hook-shape-refused-later",
        Case(
            (given("x", shape=(1, 1)), given("r", shape=(1,), fixed=True)),
            (
                Op("getitem_strided", ("x",), ("y",), {"key": [[0, 1, 2], [0, 1, 2]]}),
                Op("sum", ("y",), ("t",), TOTAL),
                Hook("t", ("k",), "tensor", tensor_returned="r"),
                Grad(("t",), ("x",), ("g",), **LINKED),
            ),
        ),
    ),
    "a derivative that was made inside no_grad, of what is no leaf to differentiate any more": (
        "paddle-create-graph-in-no-grad",
        Case(
            (X,),
            (
                Op("square", ("x",), ("y",)),
                SetRequiresGrad("x", requires_grad=False),
                Grad(("y",), ("x",), ("g",), no_grad=True, **LINKED),
                Grad(("g",), ("x",), ("h",)),
            ),
        ),
    ),
    "an op without a second derivative, differentiated with a graph inside no_grad": (
        "paddle-create-graph-in-no-grad-itself",
        Case(
            (given("x", 1.0, 2.0, shape=(2,)), given("s", 3.0, 4.0, shape=(2,))),
            (Op("cumsum", ("x",), ("y",), {"axis": 0}), Grad(("y",), ("x",), ("g",), ("s",), no_grad=True, **LINKED)),
        ),
    ),
    "a view that is its operand, inside no_grad": (
        "paddle-shape-op-returns-operand",
        Case((X,), (Op("reshape", ("x",), ("y",), {"shape": []}, no_grad=True),)),
    ),
    "a part of what was written, without elements": (
        "paddle-view-write-gradient",
        Case(
            (given("x", 2.0, shape=(1, 1)), given("v", shape=(1,))),
            (
                Op("neg", ("x",), ("y",)),
                Op("mul_scalar", ("v",), ("w",), {"other": 2.0}),
                Op("getitem_slice", ("y",), ("p",), {"key": [[0, 2, 1], [2, 3, 1]]}),
                Backward(("w",)),
                InPlace("mul", "y", ("w",)),
                Backward(("p",)),
            ),
        ),
    ),
    "what an op with several results and a write left": (
        "paddle-view-write-gradient",
        Case(
            (given("x", 2.0, 0.0, shape=(1, 2)),),
            (
                Op("stack", ("x", "x"), ("y",), {"axis": 2}),
                Op("flatten", ("y",), ("f",), {"shape": [1, 4]}),
                InPlace("clamp", "y", (), {"low": -1.0, "high": 1.0}),
                Op("sum", ("f",), ("t",), TOTAL),
                Grad(("t",), ("x",), ("g",)),
            ),
        ),
    ),
    "a hook on what retains its gradient unasked": (
        "paddle-setitem-retained-twice",
        Case(
            (given("c", 1.0, 2.0, shape=(2,), fixed=True), X, given("r", 1.0, 2.0, shape=(2,), fixed=True)),
            (
                Op("setitem", ("c", "x"), ("y",), {"key": [[0, 1, 2]]}),
                RetainGrad("y"),
                Hook("y", ("k",), "tensor", tensor_returned="r"),
                Backward(("y",), (None,)),
            ),
        ),
    ),
    "a hook on a seed that was added to": (
        "torch-view-hook-lost-after-write",
        Case(
            (Input("z", (0,), (), "complex64"), Input("s", (0,), (), "complex64", differentiable=False)),
            (
                Op("conj", ("z",), ("y",)),
                Hook("y", ("k",), "nothing"),
                Backward(("y",), ("y",)),
                Backward(("y",), ("s",)),
                Grad(("y",), ("z",), ("g",), ("s",)),
            ),
        ),
    ),
}


@pytest.mark.parametrize("name", SEEN)
def test_a_known_deviation_is_known_here_too(name: str, workers: Workers) -> None:
    assert ending(SEEN, name, workers) == (Bucket.KNOWN_DEVIATION, True)


def test_what_a_counterfactual_watches_beside_the_script_is_no_difference(workers: Workers) -> None:
    call = Grad(("x",), ("x",), ("g",), ("y",))
    leaves = (Input("x", (), (1.0,)), Input("s", (), (1.0,), differentiable=False))
    case = Case(leaves, (Op("mul", ("s", "x"), ("y",)), call, Backward(("y",), dump_backward_graph=True)))
    explained = workers.call(explain_case, case, "paddle")
    assert explained is not None
    assert ("known_deviation", "paddle-own-seed-made-constant") == (explained.verdict.bucket, explained.verdict.deviation)
