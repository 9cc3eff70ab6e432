"""Clauses of ``paddle.autograd.backward``."""

from conformance.case import Case, Input
from conformance.clauses.curated import Curated
from conformance.steps import Backward, ClearGrad, Op

_INPUTS = (
    Input("x", (2, 2), (1.0, 2.0, 3.0, 4.0)),
    Input("y", (2, 2), (3.0, 2.0, 3.0, 4.0), differentiable=False),
    Input("g1", (2, 2), (1.0, 2.0, 2.0, 3.0), differentiable=False),
    Input("g2", (2, 2), (1.0, 1.0, 1.0, 1.0), differentiable=False),
)
_PRODUCTS = (Op("matmul", ("x", "y"), ("z1",)), Op("matmul", ("x", "y"), ("z2",)))
_ROOTS = ("z1", "z2")

CASES = (
    Curated(
        "PB-12",
        "two roots, weighed, then one weight left out, then both",
        Case(
            _INPUTS,
            (
                *_PRODUCTS,
                Backward(_ROOTS, ("g1", "g2"), retain_graph=True),
                ClearGrad("x", "zero"),
                Backward(_ROOTS, ("g1", None), retain_graph=True),
                ClearGrad("x", "zero"),
                Backward(_ROOTS),
            ),
            "exact",
        ),
        {
            "x.grad@2": [[12.0, 18.0], [17.0, 25.0]],
            "x.grad@4": [[12.0, 18.0], [17.0, 25.0]],
            "x.grad@6": [[10.0, 14.0], [10.0, 14.0]],
        },
    ),
    Curated(
        "PB-02",
        "the same root twice",
        Case(_INPUTS[:2], (_PRODUCTS[0], Backward(("z1", "z1"))), "exact"),
    ),
    Curated(
        "PB-05",
        "fewer seeds than roots",
        Case(_INPUTS[:3], (*_PRODUCTS, Backward(_ROOTS, ("g1",))), "exact"),
    ),
    Curated(
        "PB-07",
        "a second pass over a freed graph",
        Case(_INPUTS[:3], (_PRODUCTS[0], Backward(("z1",), ("g1",)), Backward(("z1",), ("g1",))), "exact"),
        {"x.grad@1": [[7.0, 11.0], [12.0, 18.0]]},
    ),
    Curated(
        "PB-09",
        "gradients accumulate until they are cleared",
        Case(
            _INPUTS[:3],
            (
                _PRODUCTS[0],
                Backward(("z1",), ("g1",), retain_graph=True),
                Backward(("z1",), ("g1",), retain_graph=True),
                ClearGrad("x", "zero"),
            ),
            "exact",
        ),
        {"x.grad@2": [[14.0, 22.0], [24.0, 36.0]], "x.grad@3": [[0.0, 0.0], [0.0, 0.0]]},
    ),
)
