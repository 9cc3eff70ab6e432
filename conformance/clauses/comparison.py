"""Clauses of the comparison of both frameworks' ``backward``; its author speaks of Paddle and shows the same with PyTorch."""

from conformance.case.steps import Backward, Grad, Op
from conformance.clauses.curated import Curated
from conformance.clauses.shorthand import constant, exact, leaf, mul, total

_X = leaf("x", 1.0, 2.0)
_SQUARES = mul("x", "x", "y")
_F = (Op("pow_scalar", ("x",), ("s",), {"exponent": 2.0}), total("s", "f"))
_CUBES = (mul("x", "x", "s"), mul("s", "x", "c"), total("c", "f"), Grad(("f",), ("x",), ("d",), create_graph=True))
_ROWS = (Op("getitem_int", ("d",), ("d0",), {"index": 0}), Op("getitem_int", ("d",), ("d1",), {"index": 1}))

CASES = (
    Curated(
        "BL-01",
        "the gradient of a sum of squares",
        exact((_X,), *_F, Backward(("f",), retain_graph=True)),
        {"x.grad@2": [2.0, 4.0]},
    ),
    Curated(
        "BL-01",
        "the root without a list, as it is written",
        exact((_X,), *_F, Backward(("f",), retain_graph=True, form="bare")),
        {"x.grad@2": [2.0, 4.0]},
    ),
    Curated(
        "BL-02",
        "a seed weighs the elements of the sum",
        exact((_X, constant("g", 1.0, 10.0)), _SQUARES, Backward(("y",), ("g",))),
        {"x.grad@1": [2.0, 40.0]},
    ),
    Curated(
        "BL-02",
        "the parts of two workers are summed",
        exact(
            (_X, constant("g", 0.25, 0.25), constant("h", 0.75, 0.75)),
            _SQUARES,
            Backward(("y",), ("g",), retain_graph=True),
            Backward(("y",), ("h",)),
        ),
    ),
    Curated(
        "BL-03",
        "the rows of a Hessian, retained for each but the last",
        exact((_X,), *_CUBES, *_ROWS, Grad(("d0",), ("x",), ("h0",), retain_graph=True), Grad(("d1",), ("x",), ("h1",))),
    ),
    Curated(
        "BL-03",
        "a repeated pass works where the graph was retained",
        exact((_X,), *_F, Backward(("f",), retain_graph=True), Backward(("f",), retain_graph=True)),
    ),
    Curated("BL-03", "a repeated pass is refused where it was not", exact((_X,), *_F, Backward(("f",)), Backward(("f",)))),
)
