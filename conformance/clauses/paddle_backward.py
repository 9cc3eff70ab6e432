"""Clauses of ``paddle.autograd.backward``."""

from conformance.case.case import Input
from conformance.case.steps import Backward, ClearGrad, Op
from conformance.clauses.curated import Curated
from conformance.clauses.shorthand import add, constant, exact, leaf, mul, number, scale, total

_MATRICES = (
    Input("x", (2, 2), (1.0, 2.0, 3.0, 4.0)),
    Input("y", (2, 2), (3.0, 2.0, 3.0, 4.0), differentiable=False),
    Input("g1", (2, 2), (1.0, 2.0, 2.0, 3.0), differentiable=False),
    Input("g2", (2, 2), (1.0, 1.0, 1.0, 1.0), differentiable=False),
)
_PRODUCTS = (Op("matmul", ("x", "y"), ("z1",)), Op("matmul", ("x", "y"), ("z2",)))
_ROOTS = ("z1", "z2")
_X = leaf("x", 1.0, 2.0)
_SEED = constant("g", 1.0, 10.0)
_SQUARES = mul("x", "x", "y")

_CONTAINERS = (
    Curated("PB-01", "a list of roots", exact((_X, _SEED), _SQUARES, total("y", "z"), Backward(("z", "y"), (None, "g")))),
    Curated(
        "PB-01", "a tuple of roots", exact((_X, _SEED), _SQUARES, total("y", "z"), Backward(("z", "y"), (None, "g"), form="tuple"))
    ),
    Curated("PB-01", "one tensor without a list", exact((_X,), _SQUARES, total("y", "z"), Backward(("z",), form="bare"))),
    Curated("PB-01", "one tensor and one seed without lists", exact((_X, _SEED), _SQUARES, Backward(("y",), ("g",), form="bare"))),
    Curated("PB-02", "the same root twice", exact(_MATRICES[:2], _PRODUCTS[0], Backward(("z1", "z1")))),
    Curated("PB-02", "the same root twice, with a seed each", exact(_MATRICES, _PRODUCTS[0], Backward(("z1", "z1"), ("g1", "g2")))),
    Curated("PB-02", "the same leaf twice", exact((number("x", 3.0),), Backward(("x", "x")))),
    Curated("PB-02", "two roots that are equal but not the same", exact(_MATRICES, *_PRODUCTS, Backward(_ROOTS, ("g1", "g2")))),
)

_SEEDS = (
    Curated("PB-03", "no seed for a root of two elements", exact((_X,), _SQUARES, Backward(("y",)))),
    Curated("PB-03", "no seed for a root without axes", exact((_X,), _SQUARES, total("y", "z"), Backward(("z",)))),
    Curated("PB-03", "no seeds for roots of different shapes", exact((_X,), _SQUARES, total("y", "z"), Backward(("y", "z")))),
    Curated("PB-03", "no seed for a leaf", exact((_X,), Backward(("x",)))),
    Curated("PB-04", "None for the second root", exact(_MATRICES, *_PRODUCTS, Backward(_ROOTS, ("g1", None)))),
    Curated("PB-04", "None for the first root", exact(_MATRICES, *_PRODUCTS, Backward(_ROOTS, (None, "g1")))),
    Curated("PB-04", "None for every root", exact(_MATRICES, *_PRODUCTS, Backward(_ROOTS, (None, None)))),
    Curated("PB-05", "fewer seeds than roots", exact(_MATRICES[:3], *_PRODUCTS, Backward(_ROOTS, ("g1",)))),
    Curated("PB-05", "more seeds than roots", exact(_MATRICES, _PRODUCTS[0], Backward(("z1",), ("g1", "g2")))),
    Curated("PB-05", "no seed in a list for one root", exact((_X,), _SQUARES, total("y", "z"), Backward(("z",), ()))),
    Curated("PB-05", "as many seeds as roots", exact(_MATRICES, *_PRODUCTS, Backward(_ROOTS, ("g2", "g1")))),
    Curated("PB-06", "a seed weighs the elements", exact((_X, _SEED), _SQUARES, Backward(("y",), ("g",)))),
    Curated("PB-06", "a seed of zeros", exact((_X, constant("g", 0.0, 0.0)), _SQUARES, Backward(("y",), ("g",)))),
    Curated(
        "PB-06",
        "a seed for a root without axes",
        exact((_X, number("g", -3.0, differentiable=False)), _SQUARES, total("y", "z"), Backward(("z",), ("g",))),
    ),
)

_GRAPH = (
    Curated(
        "PB-07",
        "a second pass over a freed graph",
        exact(_MATRICES[:3], _PRODUCTS[0], Backward(("z1",), ("g1",)), Backward(("z1",), ("g1",))),
        {"x.grad@1": [[7.0, 11.0], [12.0, 18.0]]},
    ),
    Curated(
        "PB-07",
        "retain_graph=False said aloud",
        exact((_X,), _SQUARES, total("y", "z"), Backward(("z",), retain_graph=False), Backward(("z",))),
    ),
    Curated(
        "PB-07",
        "another root over a freed trunk",
        exact((_X,), _SQUARES, total("y", "z"), scale("y", 3.0, "u"), total("u", "w"), Backward(("z",)), Backward(("w",))),
    ),
    Curated(
        "PB-08",
        "a second pass over a retained graph",
        exact((_X,), _SQUARES, total("y", "z"), Backward(("z",), retain_graph=True), Backward(("z",))),
    ),
    Curated(
        "PB-08",
        "ops added to a retained graph",
        exact((_X,), _SQUARES, total("y", "z"), Backward(("z",), retain_graph=True), mul("z", "z", "w"), Backward(("w",))),
    ),
    Curated(
        "PB-08",
        "retained once is freed by the next pass",
        exact((_X,), _SQUARES, total("y", "z"), Backward(("z",), retain_graph=True), Backward(("z",)), Backward(("z",))),
    ),
)

_ACCUMULATION = (
    Curated(
        "PB-09",
        "gradients accumulate until they are cleared",
        exact(
            _MATRICES[:3],
            _PRODUCTS[0],
            Backward(("z1",), ("g1",), retain_graph=True),
            Backward(("z1",), ("g1",), retain_graph=True),
            ClearGrad("x", "zero"),
        ),
        {"x.grad@2": [[14.0, 22.0], [24.0, 36.0]], "x.grad@3": [[0.0, 0.0], [0.0, 0.0]]},
    ),
    Curated(
        "PB-09",
        "gradients accumulate over different graphs",
        exact((_X,), _SQUARES, total("y", "z"), Backward(("z",)), scale("x", 3.0, "u"), total("u", "w"), Backward(("w",))),
    ),
    Curated(
        "PB-09",
        "a cleared gradient accumulates again",
        exact((_X,), _SQUARES, total("y", "z"), Backward(("z",), retain_graph=True), ClearGrad("x", "zero"), Backward(("z",))),
    ),
    Curated(
        "PB-09",
        "only leaves that are used, and that require a gradient",
        exact((_X, leaf("u", 5.0, 6.0), constant("c", 7.0, 8.0)), mul("x", "c", "y"), total("y", "z"), Backward(("z",))),
    ),
    Curated(
        "PB-10",
        "the backward graph in DOT form and the call stacks are written",
        exact((_X,), _SQUARES, total("y", "z"), Backward(("z",), dump_backward_graph=True)),
    ),
    Curated(
        "PB-10",
        "the gradients are the same with the debugging files",
        exact(
            (_X, _SEED),
            _SQUARES,
            add("y", "x", "z"),
            Backward(("z",), ("g",), retain_graph=True, dump_backward_graph=True),
            Backward(("z",), ("g",)),
        ),
    ),
    Curated("PB-11", "backward returns nothing", exact((_X,), _SQUARES, total("y", "z"), Backward(("z",)))),
    Curated(
        "PB-11",
        "backward of several roots over a retained graph returns nothing",
        exact((_X, _SEED), _SQUARES, total("y", "z"), Backward(("y", "z"), ("g", None), retain_graph=True)),
    ),
    Curated(
        "PB-12",
        "two roots, weighed, then one weight left out, then both",
        exact(
            _MATRICES,
            *_PRODUCTS,
            Backward(_ROOTS, ("g1", "g2"), retain_graph=True),
            ClearGrad("x", "zero"),
            Backward(_ROOTS, ("g1", None), retain_graph=True),
            ClearGrad("x", "zero"),
            Backward(_ROOTS),
        ),
        {
            "x.grad@2": [[12.0, 18.0], [17.0, 25.0]],
            "x.grad@4": [[12.0, 18.0], [17.0, 25.0]],
            "x.grad@6": [[10.0, 14.0], [10.0, 14.0]],
        },
    ),
)

CASES = (*_CONTAINERS, *_SEEDS, *_GRAPH, *_ACCUMULATION)
