"""Scripts that a campaign found red: what nobody promises, otherwise than in the case of its page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.case.case import Case
from conformance.case.steps import (
    Backward,
    Grad,
    Hook,
    Op,
)
from conformance.judge.verdict import AGREEING
from tests.conformance.engines import TOTAL
from tests.conformance.known_scripts import LINKED, V, X, Z, ending, given, in_itself

if TYPE_CHECKING:
    from conformance.campaign.workers.pool import Workers


SEEN = {
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


@pytest.mark.parametrize("name", SEEN)
def test_what_nobody_promises_agrees(name: str, workers: Workers) -> None:
    bucket, known = ending(SEEN, name, workers)
    assert (True, True) == (bucket in AGREEING, known)
