"""The arguments of `backward` and `grad`, judged on the framework that has them: containers, old names, edges, batches, the dump.

Every case is small and exact; the reference says what should come, each framework runs in a process of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.case.case import Case, Input
from conformance.case.files import check
from conformance.case.steps import Backward, Edge, Grad, Op, RetainGrad
from conformance.judge.verdict import AGREEING
from tests.conformance import judged
from tests.conformance.engines import TOTAL

if TYPE_CHECKING:
    from conformance.campaign.workers.pool import Workers
    from conformance.case.steps import Step

FRAMEWORKS = ("torch", "paddle")

X = Input("x", (2,), (3.0, 5.0))
W = Input("w", (2,), (2.0, 4.0))
C = Input("c", (2,), (1.0, 7.0), differentiable=False)
G = Input("g", (2,), (1.0, 10.0), differentiable=False)
ONE = Input("one", (), (1.0,), differentiable=False)
EYE = Input("eye", (2, 2), (1.0, 0.0, 0.0, 1.0), differentiable=False)
THREE = Input("three", (3, 2), (1.0, 2.0, 3.0, 4.0, 5.0, 6.0), differentiable=False)
SCALARS = Input("scalars", (3,), (1.0, 10.0, 100.0), differentiable=False)
SQUARE = Op("mul", ("x", "x"), ("h",))
PRODUCT = Op("mul", ("h", "w"), ("y",))
SUMMED = Op("sum", ("y",), ("z",), TOTAL)
CUBE = Op("mul", ("h", "x"), ("k",))
PARTS = Op("split", ("y",), ("a", "b"), {"sections": [1, 1], "axis": 0})
KEEP = {"retain_graph": True}
BATCH = {"is_grads_batched": True}


def case(*parts: Input | Step) -> Case:
    """Make an exact case of inputs and steps."""
    inputs = tuple(part for part in parts if isinstance(part, Input))
    return Case(inputs, tuple(part for part in parts if not isinstance(part, Input)), "exact")


def edge(tensor: str) -> Edge:
    """Name the edge of a tensor ``e_`` and its name."""
    return Edge(tensor, (f"e_{tensor}",))


CHAIN = (X, W, G, ONE, SQUARE, PRODUCT, SUMMED)

BOTH = {
    "one tensor without a container": case(*CHAIN, Backward(("z",), ("one",), form="bare")),
    "tuples": case(*CHAIN, Backward(("y",), ("g",), form="tuple")),
    "grad of one tensor without a container": case(*CHAIN, Grad(("y",), ("x",), ("dx",), ("g",), form="bare")),
    "grad of tuples": case(*CHAIN, Grad(("y", "h"), ("x", "w"), ("dx", "dw"), ("g", "g"), form="tuple")),
    "one seed without a container is no seed for two roots": case(*CHAIN, Backward(("y", "h"), ("g",))),
    "empty list of seeds": case(*CHAIN, Backward(("z",), ())),
    "no inputs": case(*CHAIN, Grad(("y",), (), (), ("g",)), Grad(("y",), ("x",), ("dx",), ("g",))),
}

TORCH = {
    "backward into no inputs": case(*CHAIN, Backward(("z",), inputs=(), **KEEP), Backward(("z",))),
    "backward into one input without a container": case(*CHAIN, Backward(("z",), inputs=("x",), form="bare")),
    # The old name of the seeds.
    "grad_variables are the seeds": case(*CHAIN, Backward(("y",), grad_variables=("g",))),
    "grad_variables beside grad_tensors": case(*CHAIN, Backward(("y",), ("g",), grad_variables=("g",)), Backward(("z",))),
    "grad_variables of another number": case(*CHAIN, Backward(("y", "h"), grad_variables=("g",))),
    # Edges.
    "edge of a computed tensor as input": case(*CHAIN, edge("h"), Grad(("y",), ("e_h",), ("dh",), ("g",))),
    "edge of a leaf as input": case(*CHAIN, edge("x"), Grad(("y",), ("e_x",), ("dx",), ("g",), form="bare")),
    "edge and its tensor as inputs": case(*CHAIN, edge("h"), Grad(("y",), ("e_h", "h", "e_h"), ("a", "b", "d"), ("g",))),
    "edge of the root as input": case(*CHAIN, edge("y"), Grad(("y",), ("e_y",), ("dy",), ("g",))),
    "edge of a slot as input": case(*CHAIN, PARTS, edge("b"), Grad(("a", "b"), ("e_b", "x"), ("db", "dx"))),
    "edge as output": case(*CHAIN, edge("z"), Grad(("e_z",), ("x",), ("dx",), form="bare")),
    "edge of several elements as output needs a seed": case(*CHAIN, edge("y"), Grad(("e_y",), ("x",), ("dx",))),
    "edge of several elements as output with its seed": case(*CHAIN, edge("y"), Grad(("e_y",), ("x",), ("dx",), ("g",))),
    "edge as output with a seed of another shape": case(*CHAIN, edge("y"), Grad(("e_y",), ("x",), ("dx",), ("one",))),
    "edge of a leaf as output": case(*CHAIN, edge("x"), Grad(("e_x",), ("x",), ("dx",), ("g",))),
    "edge of a slot as output": case(*CHAIN, PARTS, edge("b"), Grad(("e_b",), ("x", "w"), ("dx", "dw"))),
    "edge beside its tensor as outputs": case(*CHAIN, edge("y"), Grad(("e_y", "y"), ("x",), ("dx",), ("g", "g"))),
    "backward from an edge": case(*CHAIN, edge("z"), Backward(("e_z",), form="bare")),
    "backward from an edge and a tensor": case(*CHAIN, edge("h"), Backward(("e_h", "z"), ("g", None))),
    "backward from the edge of a leaf": case(*CHAIN, edge("x"), Backward(("e_x",), ("g",))),
    "backward into the edge of a leaf": case(*CHAIN, edge("x"), Backward(("z",), inputs=("e_x",))),
    "backward into the edge of a computed tensor": case(*CHAIN, edge("h"), Backward(("z",), inputs=("e_h",))),
    "backward into the edge of a tensor that retains its gradient": case(
        *CHAIN, RetainGrad("h"), edge("h"), Backward(("z",), inputs=("e_h",))
    ),
    "backward into the edge of a computed tensor runs its node": case(
        *CHAIN,
        edge("h"),
        Backward(("z",), inputs=("e_h", "x"), **KEEP),
        Backward(("h",), ("g",)),
    ),
    "edge that is not reached": case(*CHAIN, edge("w"), Grad(("h",), ("e_w",), ("dw",), ("g",))),
    "edge that is not reached is absent": case(*CHAIN, edge("w"), Grad(("h",), ("e_w",), ("dw",), ("g",), allow_unused=True)),
    "edge that is not reached cannot be materialized": case(
        *CHAIN, edge("w"), Grad(("h",), ("e_w",), ("dw",), ("g",), materialize_grads=True)
    ),
    "edge that is reached beside materialized zeros": case(
        *CHAIN, edge("x"), Grad(("h",), ("e_x", "w"), ("dx", "dw"), ("g",), materialize_grads=True)
    ),
    "edge of a constant": case(C, *CHAIN, edge("c"), Backward(("z",))),
    "edge as input of a derivative": case(
        *CHAIN, edge("h"), Grad(("y",), ("e_h",), ("dh",), ("g",), create_graph=True), Grad(("dh",), ("w",), ("dw",), ("g",))
    ),
    # Batches.
    "batch of seeds gives the rows of the Jacobian": case(EYE, *CHAIN, Grad(("h",), ("x",), ("dx",), ("eye",), **BATCH)),
    "batch of another size than the root": case(THREE, *CHAIN, Grad(("y",), ("x", "h"), ("dx", "dh"), ("three",), **BATCH)),
    "batch of seeds of a 0-d root": case(SCALARS, *CHAIN, Grad(("z",), ("x", "w"), ("dx", "dw"), ("scalars",), **BATCH)),
    "batch for two roots": case(THREE, SCALARS, *CHAIN, Grad(("y", "z"), ("x",), ("dx",), ("three", "scalars"), **BATCH)),
    "batches of two sizes": case(EYE, SCALARS, *CHAIN, Grad(("y", "z"), ("x",), ("dx",), ("eye", "scalars"), **BATCH)),
    "batch of seeds of another shape": case(SCALARS, *CHAIN, Grad(("y",), ("x",), ("dx",), ("scalars",), **BATCH)),
    "batch that is a seed of no axes": case(*CHAIN, Grad(("z",), ("x",), ("dx",), ("one",), **BATCH)),
    "batch that is missing": case(*CHAIN, Grad(("y",), ("x",), ("dx",), **BATCH)),
    "batch that is missing for a 0-d root": case(*CHAIN, Grad(("z",), ("x",), ("dx",), **BATCH)),
    "batch for one of two roots": case(THREE, *CHAIN, Grad(("y", "z"), ("x",), ("dx",), ("three", None), **BATCH)),
    "batch of fewer seeds than roots": case(EYE, *CHAIN, Grad(("y", "z"), ("x",), ("dx",), ("eye",), **BATCH)),
    "batch and an input that is not reached": case(EYE, *CHAIN, Grad(("h",), ("x", "w"), ("dx", "dw"), ("eye",), **BATCH)),
    "batch and an absent input": case(EYE, *CHAIN, Grad(("h",), ("x", "w"), ("dx", "dw"), ("eye",), allow_unused=True, **BATCH)),
    "batch and a materialized input": case(
        EYE, *CHAIN, Grad(("h",), ("x", "w"), ("dx", "dw"), ("eye",), materialize_grads=True, **BATCH)
    ),
    "batch and a constant input": case(C, EYE, *CHAIN, Grad(("h",), ("c",), ("dc",), ("eye",), **BATCH)),
    "batch and a constant root": case(C, EYE, *CHAIN, Grad(("c",), ("x",), ("dx",), ("eye",), **BATCH)),
    "batch frees the graph once it is done": case(
        EYE, *CHAIN, Grad(("h",), ("x",), ("dx",), ("eye",), **BATCH), Backward(("h",), ("g",))
    ),
    "batch keeps the graph": case(EYE, *CHAIN, Grad(("h",), ("x",), ("dx",), ("eye",), **BATCH, **KEEP), Backward(("h",), ("g",))),
    "batch from an edge": case(EYE, *CHAIN, edge("h"), Grad(("e_h",), ("x",), ("dx",), ("eye",), **BATCH)),
    "batch of seeds of another shape for an edge": case(
        SCALARS, *CHAIN, edge("h"), Grad(("e_h",), ("x",), ("dx",), ("scalars",), **BATCH)
    ),
    "batch into an edge": case(EYE, *CHAIN, edge("h"), Grad(("y",), ("e_h",), ("dh",), ("eye",), **BATCH)),
    "empty batch": case(Input("none", (0, 2), (), differentiable=False), *CHAIN, Grad(("h",), ("x",), ("dx",), ("none",), **BATCH)),
    "batch of seeds of another dtype": case(
        Input("eye", (2, 2), (1.0, 0.0, 0.0, 1.0), "float64", differentiable=False),
        *CHAIN,
        Grad(("h",), ("x",), ("dx",), ("eye",), **BATCH),
    ),
    "batch of a derivative is differentiated again": case(
        Input("eye", (2, 2), (1.0, 0.0, 0.0, 1.0)),
        *CHAIN,
        CUBE,
        Grad(("k",), ("x",), ("dx",), ("eye",), create_graph=True, **BATCH),
        Op("sum", ("dx",), ("t",), TOTAL),
        Grad(("t",), ("x", "eye"), ("ddx", "deye"), **KEEP),
        Backward(("t",)),
    ),
    "batch of a linear derivative is a constant": case(
        EYE, X, Op("add", ("x", "x"), ("h",)), Grad(("h",), ("x",), ("dx",), ("eye",), create_graph=True, **BATCH)
    ),
}

PADDLE = {
    "no_grad_vars without a container": case(*CHAIN, Grad(("y",), ("x",), ("dx",), ("g",), no_grad_vars=("w",), form="bare")),
    "no_grad_vars in a tuple": case(*CHAIN, CUBE, Grad(("k",), ("x",), ("dx",), ("g",), no_grad_vars=("h", "w"), form="tuple")),
    "no_grad_vars in a set": case(*CHAIN, CUBE, Grad(("k",), ("x",), ("dx",), ("g",), no_grad_vars=("h", "w"), form="set")),
    "dump of a chain": case(*CHAIN, Backward(("z",), dump_backward_graph=True)),
    "dump of two roots": case(*CHAIN, Backward(("z", "h"), (None, "g"), dump_backward_graph=True)),
    "dump of a leaf": case(*CHAIN, Backward(("x",), ("g",), dump_backward_graph=True)),
    "dump of a leaf beside what is computed from it": case(*CHAIN, Backward(("x", "z"), dump_backward_graph=True)),
    "dump leaves out what nothing flows to": case(C, *CHAIN, Op("mul", ("c", "h"), ("k",)), Backward(("k",), dump_backward_graph=True)),
    "dump of slots": case(*CHAIN, PARTS, CUBE, Backward(("a", "k"), dump_backward_graph=True)),
    "dump of a constant": case(C, X, Backward(("c",), dump_backward_graph=True), Backward(("x",))),
    "dump of a freed graph": case(*CHAIN, Backward(("h",)), Backward(("z",), dump_backward_graph=True)),
    "dump of a derivative": case(
        *CHAIN, CUBE, Grad(("k",), ("x",), ("dx",), ("g",), create_graph=True), Backward(("dx",), dump_backward_graph=True)
    ),
}

OF = {"torch": {**BOTH, **TORCH}, "paddle": {**BOTH, **PADDLE}}
WORK = [(framework, name, made) for framework, cases in OF.items() for name, made in cases.items()]
IDS = [f"{framework}-{name}" for framework, name, _ in WORK]

DEVIATES = {
    ("torch", "backward into the edge of a computed tensor"): "torch-edge-input-dropped",
    ("torch", "backward into the edge of a computed tensor runs its node"): "torch-edge-input-dropped",
    ("torch", "batch and a materialized input"): "torch-batched-zeros-shape",
    ("torch", "batch of seeds of another shape for an edge"): "torch-batched-edge-message",
    ("torch", "empty batch"): "torch-batched-empty",
    ("paddle", "empty list of seeds"): "paddle-empty-seeds",
}
"""Where a framework is known not to keep its promise, the finding."""


@pytest.mark.parametrize(("framework", "name", "made"), WORK, ids=IDS)
def test_case_is_well_formed(framework: str, name: str, made: Case) -> None:
    check(made, name)


@pytest.mark.frameworks
@pytest.mark.parametrize(("framework", "name", "made"), WORK, ids=IDS)
def test_framework_answers_as_the_reference_or_deviates_as_known(workers: Workers, framework: str, name: str, made: Case) -> None:
    verdict = judged.verdicts(workers, framework, OF[framework])[name]
    known = DEVIATES.get((framework, name))
    if known is None:
        assert verdict.bucket in AGREEING, verdict
    else:
        assert known == verdict.deviation, verdict
