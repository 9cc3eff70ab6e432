"""Clauses of ``torch.autograd.backward``."""

from conformance.case.case import Case, Input
from conformance.case.steps import Backward, ClearGrad, Drop, Edge, Grad
from conformance.clauses.curated import Curated
from conformance.clauses.shorthand import add, constant, exact, leaf, mul, number, scale, total
from reference_impl import TORCH

_X = leaf("x", 1.0, 2.0)
_W = leaf("w", 3.0, 4.0)
_SEED = constant("g", 1.0, 10.0)
_SQUARES = mul("x", "x", "y")
_SUM = (_SQUARES, total("y", "z"))
_FORGOTTEN = (Drop("z"), Drop("y"), Drop("x"))


def _torch(clause: str, title: str, case: Case, prints: dict[str, list[float]] | None = None) -> Curated:
    return Curated(clause, title, case, prints or {}, TORCH)


_ROOTS = (
    _torch("TB-01", "the sum over two roots", exact((_X, _W), *_SUM, mul("x", "w", "u"), total("u", "v"), Backward(("z", "v")))),
    _torch(
        "TB-01", "a leaf that is used twice", exact((_X,), mul("x", "x", "y"), add("y", "x", "u"), total("u", "z"), Backward(("z",)))
    ),
    _torch("TB-01", "a root that another root depends on", exact((_X, _SEED), *_SUM, Backward(("y", "z"), ("g", None)))),
    _torch("TB-01", "a root is a leaf", exact((number("x", 3.0),), Backward(("x",)))),
    _torch("TB-02", "a root of two elements needs its seed", exact((_X,), _SQUARES, Backward(("y",)))),
    _torch("TB-02", "None is no seed for it", exact((_X,), *_SUM, Backward(("z", "y"), (None, None)))),
    _torch("TB-02", "with its seed it is differentiated", exact((_X, _SEED), _SQUARES, Backward(("y",), ("g",)))),
    _torch("TB-02", "one element with axes needs none", exact((Input("x", (1, 1), (3.0,)),), _SQUARES, Backward(("y",)))),
    _torch("TB-03", "None for a scalar root beside a seeded one", exact((_X, _SEED), *_SUM, Backward(("z", "y"), (None, "g")))),
    _torch("TB-03", "None for every root", exact((_X,), *_SUM, scale("z", 3.0, "u"), Backward(("z", "u"), (None, None)))),
    _torch("TB-03", "no seeds at all", exact((_X,), *_SUM, scale("z", 3.0, "u"), Backward(("z", "u")))),
    _torch(
        "TB-03",
        "None for a root that needs no gradient",
        exact((_X, _SEED), *_SUM, Backward(("z", "g"), (None, None), retain_graph=True), Backward(("z",))),
    ),
    _torch("TB-04", "fewer seeds than roots", exact((_X, _SEED), *_SUM, Backward(("y", "z"), ("g",)), Backward(("z",)))),
    _torch(
        "TB-04",
        "more seeds than roots",
        exact((_X, _SEED, constant("h", 1.0, 1.0)), _SQUARES, Backward(("y",), ("g", "h"))),
    ),
    _torch("TB-04", "one seed without a list", exact((_X, _SEED), _SQUARES, Backward(("y",), ("g",), form="bare"))),
)

_LIFETIME = (
    _torch(
        "TB-05",
        "gradients accumulate in the leaves",
        exact((_X, _SEED), _SQUARES, Backward(("y",), ("g",), retain_graph=True), Backward(("y",), ("g",))),
        {"x.grad@1": [2.0, 40.0], "x.grad@2": [4.0, 80.0]},
    ),
    _torch(
        "TB-05",
        "a gradient set to None begins anew",
        exact((_X,), *_SUM, Backward(("z",), retain_graph=True), ClearGrad("x", "none"), Backward(("z",))),
    ),
    _torch(
        "TB-05",
        "a gradient set to zero begins anew",
        exact((_X,), *_SUM, Backward(("z",), retain_graph=True), ClearGrad("x", "zero"), Backward(("z",))),
    ),
    _torch("TB-06", "neither flag: the graph is freed", exact((_X,), *_SUM, Backward(("z",)), Backward(("z",)))),
    _torch("TB-06", "retained it serves again", exact((_X,), *_SUM, Backward(("z",), retain_graph=True), Backward(("z",)))),
    _torch("TB-06", "create_graph alone: the graph stays", exact((_X,), *_SUM, Backward(("z",), create_graph=True), Backward(("z",)))),
    _torch(
        "TB-06",
        "create_graph with retain_graph=False: the graph is freed",
        exact((_X,), *_SUM, Backward(("z",), retain_graph=False, create_graph=True), Backward(("z",))),
    ),
)

_HIGHER = (
    _torch("TB-07", "the gradient itself has a graph", exact((_X,), *_SUM, Backward(("z",), create_graph=True))),
    _torch(
        "TB-07",
        "gradients with a graph accumulate with their graphs",
        exact((_X,), *_SUM, Backward(("z",), create_graph=True), Backward(("z",), create_graph=True)),
    ),
    _torch(
        "TB-07",
        "every order: the third backward of a cube",
        exact(
            (number("x", 2.0),),
            mul("x", "x", "s"),
            mul("s", "x", "y"),
            Grad(("y",), ("x",), ("d1",), create_graph=True),
            Grad(("d1",), ("x",), ("d2",), create_graph=True),
            Backward(("d2",)),
        ),
    ),
    _torch("TB-07", "parameter and gradient hold each other", exact((_X,), *_SUM, Backward(("z",), create_graph=True), *_FORGOTTEN)),
    _torch(
        "TB-07",
        "setting .grad to None breaks the cycle",
        exact((_X,), *_SUM, Backward(("z",), create_graph=True), ClearGrad("x", "none"), *_FORGOTTEN),
    ),
    _torch("TB-07", "without create_graph there is no cycle", exact((_X,), *_SUM, Backward(("z",)), *_FORGOTTEN)),
    _torch("TB-08", "the old name of the seeds", exact((_X, _SEED), _SQUARES, Backward(("y",), grad_variables=("g",)))),
    _torch(
        "TB-08",
        "both names at once",
        exact((_X, _SEED), _SQUARES, Backward(("y",), ("g",), grad_variables=("g",)), Backward(("y",), ("g",))),
    ),
)

_INPUTS = (
    _torch(
        "TB-09",
        "inputs are the only ones that accumulate",
        exact((_X, _W, _SEED), mul("x", "w", "y"), Backward(("y",), ("g",), inputs=("x",))),
        {"x.grad@1": [3.0, 40.0]},
    ),
    _torch(
        "TB-09",
        "what another leaf has accumulated is left alone",
        exact(
            (_X, _W),
            mul("x", "w", "y"),
            total("y", "z"),
            Backward(("z",), retain_graph=True),
            Backward(("z",), inputs=("w",)),
        ),
    ),
    _torch("TB-09", "one input without a list", exact((_X,), *_SUM, Backward(("z",), inputs=("x",), form="bare"))),
    _torch("TB-09", "an input that was not used", exact((_X, _W), *_SUM, Backward(("z",), inputs=("w",)))),
    _torch(
        "TB-10",
        "a computed input accumulates and the leaf above it does not",
        exact((_X,), _SQUARES, mul("y", "y", "u"), total("u", "z"), Backward(("z",), inputs=("y",))),
    ),
    _torch(
        "TB-10",
        "a computed input and a leaf together",
        exact((_X,), _SQUARES, mul("y", "y", "u"), total("u", "z"), Backward(("z",), inputs=("y", "x"))),
    ),
    _torch(
        "TB-10",
        "the edge of a leaf stands for the leaf",
        exact((_X, _W), mul("x", "w", "y"), total("y", "z"), Edge("x", ("e",)), Backward(("z",), inputs=("e",))),
    ),
    _torch(
        "TB-10",
        "the edge of a computed tensor stands for it",
        exact((_X,), _SQUARES, mul("y", "y", "u"), total("u", "z"), Edge("y", ("e",)), Backward(("z",), inputs=("e",))),
    ),
    _torch(
        "TB-11",
        "every leaf that was used, and no other",
        exact((_X, _W, leaf("u", 5.0, 6.0), _SEED), mul("x", "w", "y"), mul("y", "g", "v"), total("v", "z"), Backward(("z",))),
    ),
    _torch(
        "TB-11",
        "leaves of both roots",
        exact((_X, _W), total("x", "s"), mul("w", "w", "v"), total("v", "t"), Backward(("s", "t"))),
    ),
)

CASES = (*_ROOTS, *_LIFETIME, *_HIGHER, *_INPUTS)
