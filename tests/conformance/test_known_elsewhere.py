"""Known deviations are known where they show otherwise than in the case of their finding: scripts that a campaign found red."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pytest

from conformance.campaign.findings.explain import explain_case
from conformance.case.case import Case, Input
from conformance.case.files import check
from conformance.case.steps import (
    Backward,
    Custom,
    Detach,
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
from conformance.judge.verdict import AGREEING, Bucket
from tests.conformance import judged
from tests.conformance.engines import TOTAL

if TYPE_CHECKING:
    from conformance.campaign.workers.pool import Workers


def given(name: str, *data: Any, shape: tuple[int, ...] = (), dtype: str = "float32", fixed: bool = False) -> Input:
    return Input(name, shape, data or (1.0,), dtype, differentiable=not fixed)


def in_itself(name: str, result: str, seed: str | None = None, **asked: Any) -> Grad:
    """The gradient of a leaf in itself."""
    return Grad((name,), (name,), (result,), None if seed is None else (seed,), **asked)


def removed_after_write(*more: Step, returns: Literal["nothing", "scaled"] = "nothing", factor: float | None = None) -> Case:
    """A hook on a product that is removed after the product was written to."""
    hook, made = Hook("y", ("k",), returns, factor), Op("mul_scalar", ("x",), ("y",), {"other": 3.0})
    return Case((given("x"),), (made, hook, InPlace("mul_scalar", "y", (), {"other": 2.0}), *more, RemoveHook("k"), Backward(("y",))))


X, V, W = given("x"), given("v"), given("w", 3.0)
Z = given("z", (1.1, 0.06), dtype="complex64")
LINKED: dict[str, Any] = {"create_graph": True}
TWICE = Custom(("y",), ("c",), (Op("mul_scalar", ("y",), ("f",), {"other": 2.0}),), ("f",), ("d",), ("d",))
ALONG = {"axis": 0, "keepdims": False}
SPLIT = {"axis": 0, "sections": [1, 2]}
SEEN = {
    "a smallest element that ties, with a gradient of either sign": (
        "torch-segment-max-negative",
        Case(
            (given("x", 1.0, 1.0, 1.0, 1.0, shape=(2, 2)), given("s", 1.0, -1.0, shape=(1, 2))),
            (Op("segment_min", ("x",), ("y",), {"index": [0, 0]}), Grad(("y",), ("x",), ("g",), ("s",))),
        ),
    ),
    "a seed that is the gradient in what nansum puts zeros before": (
        "paddle-slot-of-derivative-seed",
        Case(
            (given("x", 1.0), given("s", 2.0)),
            (
                Op("nansum", ("x",), ("y",), {"axis": None, "keepdims": False}),
                Grad(("y",), ("x",), ("g",), ("s",), **LINKED),
                Grad(("g",), ("s",), ("h",), ("g",), **LINKED),
                Grad(("h",), ("s",), ("k",)),
            ),
        ),
    ),
    "a seed that is the gradient in what nan_to_num puts a number before": (
        "paddle-slot-of-derivative-seed",
        Case(
            (given("x", 2.0, -1.0, shape=(2,)), given("s", 3.0, 1.0, shape=(2,))),
            (
                Op("nan_to_num", ("x",), ("y",), {"nan": 0.5, "posinf": 1.0, "neginf": -1.0}),
                Grad(("y",), ("x",), ("g",), ("s",), **LINKED),
                Grad(("g",), ("s",), ("h",), ("g",), **LINKED),
                Grad(("h",), ("s",), ("k",), ("x",)),
            ),
        ),
    ),
    "a seed that is the gradient in a score, which is multiplied by its negated target": (
        "paddle-slot-of-derivative-seed",
        Case(
            (given("x", 0.5, -1.0, shape=(2,)), given("s", 3.0)),
            (
                Op("soft_margin_loss", ("x",), ("y",), {"target": [1.0, -1.0], "reduction": "sum"}),
                Grad(("y",), ("x",), ("g",), ("s",), **LINKED),
                Grad(("g",), ("s",), ("h",), ("g",), **LINKED),
                Grad(("h",), ("s", "x"), ("k", "m")),
            ),
            lane="numeric",
        ),
    ),
    "a seed that is the gradient in a subtrahend of more axes than what it is subtracted from": (
        "paddle-slot-of-derivative-seed",
        Case(
            (given("x", 1.0, 3.0, shape=(2,)), given("y", 2.0, 1.0, 4.0, 3.0, shape=(2, 2)), given("s", *(2.0, 1.0) * 2, shape=(2, 2))),
            (
                Op("sub", ("x", "y"), ("z",)),
                Grad(("z",), ("y",), ("g",), ("s",), **LINKED),
                Grad(("g",), ("s",), ("h",), ("g",), **LINKED),
                Grad(("h",), ("s",), ("k",), ("y",)),
            ),
        ),
    ),
    "a seed that is the gradient in a scalar below what was concatenated": (
        "paddle-slot-of-derivative-seed-refused",
        Case(
            (given("x", 1.0, 3.0, shape=(1, 2)), given("y", 2.0), given("s", *(2.0, 1.0) * 2, shape=(1, 4))),
            (
                Op("sub", ("x", "y"), ("z",)),
                Op("hstack", ("z", "x"), ("w",)),
                Grad(("w",), ("y",), ("g",), ("s",), **LINKED),
                Grad(("g",), ("s",), ("h",), ("g",), **LINKED),
                Grad(("h",), ("s",), ("k",), ("s",)),
            ),
        ),
    ),
    "a seed that is the gradient in the second factor of mm": (
        "paddle-slot-of-derivative-seed-refused",
        Case(
            (given("x", *(1.0, 3.0) * 3, shape=(2, 3)), given("y", *(2.0,) * 12, shape=(3, 4)), given("s", *(1.0,) * 8, shape=(2, 4))),
            (
                Op("mm", ("x", "y"), ("z",)),
                Grad(("z",), ("y",), ("g",), ("s",), **LINKED),
                Grad(("g",), ("s",), ("h",), ("g",), **LINKED),
                Grad(("h",), ("s",), ("k",), ("s",)),
            ),
        ),
    ),
    "a seed that is the gradient in the bias of a linear map": (
        "paddle-slot-of-broadcast-seed",
        Case(
            (given("x", 3.0, -3.0, shape=(2, 1)), given("b", -2.0, -1.0, shape=(2,)), given("s", 2.0, 2.0, 1.0, 1.0, shape=(2, 2))),
            (
                Op("linear", ("x", "x", "b"), ("y",)),
                Grad(("y",), ("b",), ("g",), ("s",), **LINKED),
                Grad(("g",), ("s",), ("h",), ("g",), **LINKED),
                Grad(("h",), ("s",), ("k",), ("s",)),
            ),
        ),
    ),
    "a seed that is the gradient in the values of an assignment": (
        "paddle-slot-of-broadcast-seed",
        Case(
            (
                given("x", 1.0, 2.0, 1.0, 2.0, shape=(2, 2)),
                given("v", 1.0, 2.0, shape=(2,)),
                given("s", 1.0, 2.0, 1.0, 2.0, shape=(2, 2)),
            ),
            (
                Op("index_put", ("x", "v"), ("y",), {"index": [[1, 0], [1, 1]]}),
                Grad(("y",), ("v",), ("g",), ("s",), **LINKED),
                Grad(("g",), ("s",), ("h",), ("g",), **LINKED),
                Grad(("h",), ("s",), ("k",), ("s",)),
            ),
        ),
    ),
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
    "an in-place product with what its first factor was made of": (
        "paddle-in-place-double",
        Case(
            (X,),
            (
                Op("softplus", ("x",), ("v",), {"beta": 1.5}),
                InPlace("mul", "v", ("x",)),
                Grad(("v",), ("x",), ("g",), **LINKED),
                Backward(("g",)),
            ),
        ),
    ),
    "sums of groups that fit no other axes": (
        "torch-batched-group-norm",
        Case(
            (given("x", *range(6), shape=(2, 3)), given("w", 1.0, 2.0, 3.0, shape=(3,)), given("s", *range(6), shape=(1, 2, 3))),
            (
                Op("group_norm", ("x", "w", "w"), ("y",), {"groups": 3, "eps": 1e-3}),
                Grad(("y",), ("x",), ("g",), ("s",), is_grads_batched=True, **LINKED),
            ),
        ),
    ),
    "sums of groups without a weight": (
        "torch-batched-group-norm",
        Case(
            (given("x", 0.5, 4.0, 3.0, 1.0, 2.5, 7.0, 2.0, 0.0, shape=(2, 2, 2)), given("s", *range(8), shape=(1, 2, 2, 2))),
            (
                Op("group_norm_noaffine", ("x",), ("y",), {"groups": 1, "eps": 1e-3}),
                Grad(("y",), ("x",), ("g",), ("s",), is_grads_batched=True, **LINKED),
            ),
        ),
    ),
    "a gradient of 0 where there is none": (
        "paddle-batch-norm-lone-gradient",
        Case(
            (given("x", 1.0, 3.0, shape=(2, 1)), given("w", 2.0, shape=(1,)), given("c", 1.0, shape=(1,))),
            (
                Op("add", ("c", "c"), ("b",)),
                Op("batch_norm_train", ("x", "w", "b"), ("y",), {"eps": 1e-3}),
                Op("sum", ("y",), ("t",), TOTAL),
                Grad(("t",), ("c",), ("g",)),
            ),
        ),
    ),
    "a refusal in front of a hook that would refuse": (
        "paddle-instance-norm-constant-input",
        Case(
            (given("x", 1.0, 2.0, shape=(1, 1, 2), fixed=True), given("w", shape=(1,)), given("b", shape=(1,))),
            (
                Hook("w", ("k",), "another_dtype"),
                Op("instance_norm", ("x", "w", "b"), ("y",), {"eps": 1e-3}),
                Op("sum", ("y",), ("t",), TOTAL),
                Backward(("t",)),
            ),
        ),
    ),
    "a seed too many for a batch that was freed": (
        "torch-too-many-seeds",
        Case(
            (
                given("x", 1.0, 2.0, shape=(1, 1, 2)),
                given("s", shape=(1, 1, 1, 1)),
                given("r", 1.0, 1.0, shape=(1, 1, 1, 2), fixed=True),
            ),
            (
                Op("dsplit", ("x",), ("y",), {"axis": 2, "part": 1, "sections": [1, 1]}),
                Grad(("y",), ("x",), ("g",), ("s",), is_grads_batched=True, **LINKED),
                Grad(("g",), ("s",), ("h",), ("r",)),
                Grad(("g",), ("s",), ("i",), ("r", "r")),
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
    "a dump of a leaf that was its own seed": (
        "paddle-own-seed-made-constant",
        Case((X,), (in_itself("x", "g", "x"), Backward(("x",), dump_backward_graph=True))),
    ),
    "a leaf behind an op that was its own seed": (
        "paddle-own-seed-made-constant",
        Case((X,), (Op("neg", ("x",), ("y",)), in_itself("x", "g", "x"), Backward(("y",)), Backward(("x",)))),
    ),
    "a custom function that made a seed": (
        "paddle-own-seed-made-constant",
        Case((given("x", -2.0),), (Op("relu6", ("x",), ("y",)), TWICE, in_itself("x", "g", "c"), Grad(("c", "y"), ("x",), ("h",)))),
    ),
    "a leaf that was its own seed by way of its gradient": (
        "paddle-seed-made-constant",
        Case((X,), (in_itself("x", "g", "x", **LINKED), Grad(("g",), ("x",), ("h",), ("g",)), Backward(("x",)))),
    ),
    "a gradient that was a seed": (
        "paddle-seed-flag-changed",
        Case((X,), (in_itself("x", "g"), in_itself("x", "h", "g", **LINKED), Op("neg", ("g",), ("y",)))),
    ),
    "a tensor that was stopped and then a seed": (
        "paddle-seed-flag-changed",
        Case((X, V), (SetRequiresGrad("v", requires_grad=False), in_itself("x", "g", "v", **LINKED), Backward(("g",)))),
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
    "a seed beside its gradient without a graph": (
        "paddle-seed-refused-as-its-gradient",
        Case((X, V, W), (in_itself("x", "g", "v"), Grad(("w",), ("v", "g"), ("h", "i"), allow_unused=True))),
    ),
    "a product of empty vectors": (
        "paddle-dot-double-shape",
        Case(
            (Input("x", (0,), ()),),
            (Op("matmul", ("x", "x"), ("y",)), Grad(("y",), ("x",), ("g",), **LINKED), Grad(("g",), ("x",), ("h",))),
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
    "a complex size, before what is not offered": (
        "paddle-complex-abs-double",
        Case(
            (given("z", (1.0, 0.0), dtype="complex64"),),
            (
                Op("abs", ("z",), ("y",)),
                Op("sqrt", ("y",), ("s",)),
                Grad(("s",), ("z",), ("g",), **LINKED),
                Grad(("g",), ("y",), ("h",), **LINKED),
            ),
        ),
    ),
    "a later part as the seed of another output": (
        "paddle-slot-of-own-seed",
        Case(
            (given("x", 1.0, 2.0, 3.0, shape=(3,)),),
            (
                Op("split", ("x",), ("u", "v"), SPLIT),
                Op("mul_scalar", ("v",), ("y",), {"other": 2.0}),
                Grad(("y",), ("x",), ("g",), ("v",), **LINKED),
                Op("sum", ("g",), ("t",), TOTAL),
                Grad(("t",), ("x",), ("h",)),
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
    "a triangle of an expanded batch": (
        "torch-triu-expanded",
        Case(
            (given("c", 1.0, 2.0, 3.0, 4.0, shape=(2, 2), fixed=True),),
            (Op("expand", ("c",), ("v",), {"shape": [3, 2, 2]}), InPlace("triu", "v", (), {"diagonal": 0})),
        ),
    ),
    "the conjugate of a seed": (
        "torch-tracked-seed-returned",
        Case((Z,), (Op("conj", ("z",), ("y",)), Grad(("y",), ("z",), ("g",), ("z",)))),
    ),
    "what a seed that was returned leads to": (
        "torch-tracked-seed-returned",
        Case(
            (X, V), (in_itself("x", "g", "v"), Grad(("g",), ("v",), ("h",), ("v",)), Op("sum", ("h",), ("t",), TOTAL), Backward(("t",)))
        ),
    ),
    "a detached seed": (
        "torch-seed-mutated",
        Case(
            (X, W),
            (in_itself("x", "g"), Detach("g", ("d",)), Op("sum", ("w",), ("t",), TOTAL), Backward(("t",), ("g",)), Backward(("t",))),
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
    "a padding below a leaky relu": (
        "paddle-leaky-relu-double-zero",
        Case(
            (given("x", 0.0, 2.0, shape=(2,)), given("s", *3 * (1.0,), shape=(3,)), given("r", 1.0, 1.0, shape=(2,))),
            (
                Op("pad_constant", ("x",), ("p",), {"before": [1], "after": [0], "value": 2.0}),
                Op("leaky_relu", ("p",), ("y",), {"slope": 0.5}),
                Grad(("y",), ("x",), ("g",), ("s",), **LINKED),
                Grad(("g",), ("s",), ("h",), ("r",)),
            ),
        ),
    ),
    "a padding of an empty difference": (
        "paddle-pad-double",
        Case(
            (Input("x", (0, 1), ()), V, W, given("u", fixed=True)),
            (
                Op("sub", ("x", "v"), ("d",)),
                Op("pad_constant", ("d",), ("p",), {"before": [0, 0], "after": [1, 1], "value": 0.5}),
                Op("sum", ("p",), ("t",), TOTAL),
                Grad(("t",), ("v",), ("g",), ("w",), **LINKED),
                Grad(("g",), ("w",), ("h",), ("u",)),
            ),
        ),
    ),
    "a product below a masked fill by it": (
        "paddle-complex-prod",
        Case(
            (given("z", (-1.0, 1.0), (0.0, -1.0), shape=(2,), dtype="complex64"),),
            (
                Op("prod", ("z",), ("p",), ALONG),
                Op("masked_fill_tensor", ("z", "p"), ("f",), {"mask": [True, False]}),
                Op("prod", ("f",), ("y",), ALONG),
                Backward(("y",)),
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
    "a constant that was computed, a seed, and used again": (
        "paddle-seed-flag-changed",
        Case(
            (X, given("s", fixed=True)),
            (
                Op("mul", ("s", "s"), ("t",)),
                Grad(("x",), ("x",), ("g",), ("t",), **LINKED),
                Op("mul", ("t", "t"), ("u",)),
            ),
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
    "a product of complex numbers, one of which is 0": (
        "paddle-complex-prod",
        Case(
            (given("z", (0.0, 0.0), (1.0, -1.0), (0.0, 0.5), (0.0, 1.0), shape=(2, 2), dtype="complex64"),),
            (Op("prod", ("z",), ("p",), ALONG), Op("imag", ("p",), ("y",)), Backward(("y",), (None,))),
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
    "a seed of pairs": (
        "torch-tracked-seed-returned",
        Case((Z,), (Op("conj", ("z",), ("c",)), Op("as_real", ("c",), ("y",)), Grad(("y",), ("z",), ("g",), ("y",)))),
    ),
    "a logarithm below a cosine": (
        "paddle-complex-log-seed",
        Case(
            (Z, given("s", (0.8, 0.7), dtype="complex64", fixed=True)),
            (
                Op("log", ("z",), ("y",)),
                Op("cos", ("y",), ("c",)),
                Grad(("c",), ("z",), ("g",), ("s",), **LINKED),
                Op("imag", ("g",), ("t",)),
                Grad(("t",), ("z",), ("h",)),
            ),
        ),
    ),
}


@functools.cache
def scripts(backend: str) -> dict[str, Case]:
    """Return the scripts for a backend by their names."""
    every = {**SEEN, **OPEN} if backend in ("torch", "paddle") else IN_PROGRAMS
    return {name: case for name, (entry, case) in every.items() if entry.startswith(f"{backend}-")}


@pytest.mark.parametrize("name", SEEN)
def test_a_known_deviation_is_known_here_too(name: str, workers: Workers) -> None:
    entry, case = SEEN[name]
    check(case)
    backend = entry.partition("-")[0]
    verdict = judged.verdicts(workers, backend, scripts(backend))[name]
    assert (Bucket.KNOWN_DEVIATION, True) == (verdict.bucket, entry in verdict.deviations)


def program(*steps: Step, inputs: tuple[Input, ...] = (X,)) -> Case:
    return Case(inputs, steps)


IN_PROGRAMS = {
    "a target that stands three times": ("paddle-static-targets-coincide", program(Grad(("x", "x", "x"), ("x",), ("g",)))),
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
    "a product of one factor that is zero": (
        "paddle-static-prod-zero",
        program(
            Op("prod", ("x",), ("y",), {"axis": 0, "keepdims": True}),
            Grad(("y",), ("x",), ("g",)),
            inputs=(given("x", 0.0, shape=(1,)),),
        ),
    ),
    "an expansion to no axes": (
        "paddle-static-slice-returns-operand",
        program(Op("expand", ("x",), ("y",), {"shape": []}, no_grad=True)),
    ),
}


@pytest.mark.parametrize("name", IN_PROGRAMS)
def test_a_known_deviation_is_known_in_this_program(name: str, workers: Workers) -> None:
    entry, case = IN_PROGRAMS[name]
    check(case)
    verdict = judged.verdicts(workers, "paddle-static", scripts("paddle-static"))[name]
    assert (Bucket.KNOWN_DEVIATION, True) == (verdict.bucket, entry in verdict.deviations)


OPEN = {
    "a batch that is the seed, which was freed": (
        "torch-batched-identity",
        Case(
            (X, given("s", shape=(1,))),
            (
                Grad(("x",), ("x",), ("g",), ("s",), is_grads_batched=True, **LINKED),
                Op("mul", ("s", "s"), ("y",)),
                Op("cos", ("g",), ("c",)),
                Backward(("y",)),
                Op("sub", ("c", "y"), ("t",)),
                Grad(("t",), ("g",), ("h",)),
            ),
        ),
    ),
    "a hook that raises on the other gradient": (
        "paddle-sibling-hook",
        Case(
            (X, V),
            (
                Op("sub", ("x", "v"), ("y",)),
                Grad(("y",), ("x", "v"), ("g", "h"), **LINKED),
                Hook("h", ("k",), "error"),
                Backward(("g",)),
            ),
        ),
    ),
    "sgn": (
        "paddle-sgn-of-operand",
        Case(
            (Z,),
            (
                Op("sgn", ("z",), ("y",)),
                Op("sum", ("y",), ("t",), TOTAL),
                Grad(("t",), ("z",), ("g",), **LINKED),
                Op("sum", ("g",), ("s",), TOTAL),
                Grad(("s",), ("y",), ("h",), allow_unused=True),
            ),
        ),
    ),
    "a derivative of a sum that is used up": (
        "paddle-identity-derivative-freed",
        Case((X, V), (Op("add", ("x", "v"), ("y",)), Grad(("y",), ("x",), ("g",), **LINKED), Backward(("g",)), Backward(("g",)))),
    ),
    "a seed whose gradient is cut": (
        "paddle-seed-cut-as-root",
        Case((X, V), (in_itself("x", "g", "v", **LINKED), Grad(("g",), ("v",), ("h",), no_grad_vars=("g",), allow_unused=True))),
    ),
    "a cut seed": (
        "paddle-seed-cut-as-root",
        Case((X, V), (in_itself("x", "g", "v", **LINKED), Grad(("g",), ("v",), ("h",), no_grad_vars=("v",)))),
    ),
}


@pytest.mark.parametrize("name", OPEN)
def test_what_nobody_promises_agrees(name: str, workers: Workers) -> None:
    entry, case = OPEN[name]
    check(case)
    backend = entry.partition("-")[0]
    verdict = judged.verdicts(workers, backend, scripts(backend))[name]
    assert (True, True) == (verdict.bucket in AGREEING, entry in verdict.deviations)


def test_what_a_counterfactual_watches_beside_the_script_is_no_difference(workers: Workers) -> None:
    call = Grad(("x",), ("x",), ("g",), ("y",))
    leaves = (Input("x", (), (1.0,)), Input("s", (), (1.0,), differentiable=False))
    case = Case(leaves, (Op("mul", ("s", "x"), ("y",)), call, Backward(("y",), dump_backward_graph=True)))
    explained = workers.call(explain_case, case, "paddle")
    assert explained is not None
    assert ("known_deviation", "paddle-own-seed-made-constant") == (explained.verdict.bucket, explained.verdict.deviation)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(1, 2), (1, 4, 2), (2, 2, 9), (2, 4, 3, 3)], ids=str)
def test_what_a_cancelled_variance_is_rounded_to_is_predicted(shape: tuple[int, ...], dtype: str, workers: Workers) -> None:
    size, channels = math.prod(shape), shape[1]
    far = 20000.0 if dtype == "float64" else 400.0
    numbers = (float(np.dtype(dtype).type(far + (7 * i % 11) / 3 + i % 2 / 7)) for i in range(size))
    inputs = (
        given("x", *numbers, shape=shape, dtype=dtype),
        given("w", *(1.0 + i / 2 for i in range(channels)), shape=(channels,), dtype=dtype),
        given("b", *[0.5] * channels, shape=(channels,), dtype=dtype),
        given("s", *(float(i % 3 - 1) for i in range(size)), shape=shape, dtype=dtype, fixed=True),
    )
    asked = Grad(("y",), ("x", "w", "b"), ("g", "h", "k"), ("s",))
    case = Case(inputs, (Op("group_norm", ("x", "w", "b"), ("y",), {"groups": 1, "eps": 1e-5}), asked))
    explained = workers.call(explain_case, case, "paddle")
    assert explained is not None
    assert ("known_deviation", "paddle-group-norm-variance") == (explained.verdict.bucket, explained.verdict.deviation)
