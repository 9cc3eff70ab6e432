"""Clauses of the comparison of both frameworks' ``backward``."""

from conformance.case import Case, Input
from conformance.clauses.curated import Curated
from conformance.steps import Backward, Op

_X = Input("x", (2,), (1.0, 2.0))

CASES = (
    Curated(
        "BL-01",
        "the gradient of a sum of squares",
        Case(
            (_X,),
            (
                Op("pow_scalar", ("x",), ("s",), {"exponent": 2.0}),
                Op("sum", ("s",), ("y",), {"axis": None, "keepdims": False}),
                Backward(("y",), retain_graph=True),
            ),
            "exact",
        ),
        {"x.grad@2": [2.0, 4.0]},
    ),
    Curated(
        "BL-02",
        "a seed weighs the elements of the sum",
        Case(
            (_X, Input("g", (2,), (1.0, 10.0), differentiable=False)),
            (Op("mul", ("x", "x"), ("y",)), Backward(("y",), ("g",))),
            "exact",
        ),
        {"x.grad@1": [2.0, 40.0]},
    ),
)
