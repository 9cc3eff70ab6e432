"""Clauses of ``torch.autograd.backward``."""

from conformance.case import Case, Input
from conformance.clauses.curated import Curated
from conformance.steps import Backward, Op
from reference_impl import TORCH

_X = Input("x", (2,), (1.0, 2.0))
_W = Input("w", (2,), (3.0, 4.0))
_SEED = Input("g", (2,), (1.0, 10.0), differentiable=False)

CASES = (
    Curated(
        "TB-02",
        "a root of two elements needs its seed",
        Case((_X,), (Op("mul", ("x", "x"), ("y",)), Backward(("y",))), "exact"),
        dialect=TORCH,
    ),
    Curated(
        "TB-05",
        "gradients accumulate in the leaves",
        Case(
            (_X, _SEED),
            (Op("mul", ("x", "x"), ("y",)), Backward(("y",), ("g",), retain_graph=True), Backward(("y",), ("g",))),
            "exact",
        ),
        {"x.grad@1": [2.0, 40.0], "x.grad@2": [4.0, 80.0]},
        TORCH,
    ),
    Curated(
        "TB-09",
        "inputs are the only ones that accumulate",
        Case((_X, _W, _SEED), (Op("mul", ("x", "w"), ("y",)), Backward(("y",), ("g",), inputs=("x",))), "exact"),
        {"x.grad@1": [3.0, 40.0]},
        TORCH,
    ),
)
