"""Clauses of ``paddle.grad``."""

from conformance.case import Case, Input
from conformance.clauses.curated import Curated
from conformance.steps import Backward, Grad, Op

_TOTAL = {"axis": None, "keepdims": False}


def _second_use(*, create_graph: bool) -> Case:
    """Build ``y = x x``, ``z = y + dx``, ``z.backward()``, as the document does."""
    return Case(
        (Input("x", (1,), (1.0,)),),
        (
            Op("mul", ("x", "x"), ("y",)),
            Grad(("y",), ("x",), ("dx",), retain_graph=True, create_graph=create_graph),
            Op("add", ("y", "dx"), ("z",)),
            Backward(("z",)),
        ),
        "exact",
    )


def _two_outputs(seeds: tuple[str | None, ...] | None) -> Case:
    """Build ``y1 = x x``, ``y2 = 3 x`` at 2, as the document does."""
    used = [name for name in seeds or () if name is not None]
    numbers = {"g1": 3.0, "g2": 4.0}
    return Case(
        (Input("x", (), (2.0,)), *(Input(n, (), (numbers[n],), differentiable=False) for n in used)),
        (
            Op("mul", ("x", "x"), ("y1",)),
            Op("mul_scalar", ("x",), ("y2",), {"other": 3.0}),
            Grad(("y1", "y2"), ("x",), ("dx",), seeds),
        ),
        "exact",
    )


CASES = (
    Curated("PG-13", "without create_graph the gradient is a constant", _second_use(create_graph=False), {"x.grad@3": [2.0]}),
    Curated("PG-13", "with create_graph it is differentiated again", _second_use(create_graph=True), {"x.grad@3": [4.0]}),
    Curated("PG-14", "no seeds", _two_outputs(None), {"dx": 7.0}),
    Curated("PG-14", "a seed of 4 for the second output", _two_outputs((None, "g2")), {"dx": 16.0}),
    Curated("PG-14", "a seed of 4 for the first output", _two_outputs(("g2", None)), {"dx": 19.0}),
    Curated("PG-14", "seeds of 3 and 4", _two_outputs(("g1", "g2")), {"dx": 24.0}),
    Curated(
        "PG-11",
        "an input that the outputs do not depend on is absent where that is allowed",
        Case(
            (Input("x", (2,), (1.0, 2.0)), Input("w", (2,), (3.0, 4.0))),
            (
                Op("mul", ("x", "x"), ("y",)),
                Op("sum", ("y",), ("z",), _TOTAL),
                Grad(("z",), ("x", "w"), ("dx", "dw"), retain_graph=True, allow_unused=True),
                Grad(("z",), ("x", "w"), ("dx2", "dw2"), retain_graph=True),
            ),
            "exact",
        ),
        {"dx": [2.0, 4.0]},
    ),
    Curated(
        "PG-12",
        "nothing flows through no_grad_vars",
        Case(
            (Input("x", (), (3.0,)),),
            (
                Op("mul", ("x", "x"), ("h",)),
                Op("mul", ("h", "x"), ("y",)),
                Grad(("y",), ("x",), ("dx",), no_grad_vars=("h",)),
            ),
            "exact",
        ),
        {"dx": 9.0},
    ),
)
