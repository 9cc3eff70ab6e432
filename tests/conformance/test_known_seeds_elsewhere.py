"""Scripts that a campaign found red: known deviations of seeds, where they show otherwise than in the case of their finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.case.case import Case
from conformance.case.steps import (
    Backward,
    Custom,
    Detach,
    Grad,
    Op,
    SetRequiresGrad,
)
from conformance.judge.verdict import Bucket
from tests.conformance.engines import TOTAL
from tests.conformance.known_scripts import LINKED, SPLIT, V, W, X, Z, ending, given, in_itself

if TYPE_CHECKING:
    from conformance.campaign.workers.pool import Workers


TWICE = Custom(("y",), ("c",), (Op("mul_scalar", ("y",), ("f",), {"other": 2.0}),), ("f",), ("d",), ("d",))
TALL, SMALL = given("x", *range(1, 7), shape=(3, 2)), given("w", 1.0, 2.0, 3.0, 4.0, shape=(2, 2))
SQUARES = (
    Op("mul", ("x", "x"), ("q",)),
    Op("mm", ("q", "w"), ("y",)),
    Grad(("y",), ("w",), ("g",), ("s",), **LINKED),
    Grad(("g",), ("x",), ("h",), ("g",), **LINKED),
)
RISING = given("s", *range(1, 7), shape=(3, 2))
SEEN = {
    "a seed that is the gradient in the second matrix of a product, where the first one is larger": (
        "paddle-slot-of-derivative-seed-lost",
        Case((TALL, SMALL, RISING), (*SQUARES, Grad(("h",), ("x",), ("k",)))),
    ),
    "and what of it does not fit in shape": (
        "paddle-slot-of-derivative-seed-refused",
        Case((TALL, SMALL, RISING), (*SQUARES, Grad(("h",), ("s",), ("k",)))),
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
    "a seed beside its gradient without a graph": (
        "paddle-seed-refused-as-its-gradient",
        Case((X, V, W), (in_itself("x", "g", "v"), Grad(("w",), ("v", "g"), ("h", "i"), allow_unused=True))),
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


@pytest.mark.parametrize("name", SEEN)
def test_a_known_deviation_is_known_here_too(name: str, workers: Workers) -> None:
    assert ending(SEEN, name, workers) == (Bucket.KNOWN_DEVIATION, True)
