"""Clauses of ``fluid.backward.gradients``, today ``paddle.static.gradients``; the numbers follow from the definition."""

from conformance.case.case import Case, Input
from conformance.case.steps import Grad, Op, SetRequiresGrad
from conformance.clauses.curated import Curated
from reference_impl import PADDLE_STATIC

_X = Input("x", (2,), (1.0, 2.0))
_W = Input("w", (2,), (3.0, 4.0))
_CONSTANT = Input("c", (2,), (3.0, 4.0), differentiable=False)
_SEED = Input("s", (2,), (1.0, 10.0))
_SQUARE = Op("mul", ("x", "x"), ("y",))
_PRODUCT = Op("mul", ("x", "w"), ("y",))

CASES = (
    Curated(
        "FG-01",
        "one target and one input may stand without a list",
        Case((_X,), (_SQUARE, Grad(("y",), ("x",), ("g",), form="bare", create_graph=True)), "exact"),
        {"g": [2.0, 4.0]},
        PADDLE_STATIC,
    ),
    Curated(
        "FG-01",
        "lists of targets and of inputs: the gradient of the sum, one for each input",
        Case(
            (_X, _W),
            (_PRODUCT, Op("add", ("y", "x"), ("z",)), Grad(("y", "z"), ("x", "w"), ("g", "h"), create_graph=True, allow_unused=True)),
            "exact",
        ),
        {"g": [7.0, 9.0], "h": [2.0, 4.0]},
        PADDLE_STATIC,
    ),
    Curated(
        "FG-02",
        "ones for every element where no target gradient is given, also for one of several",
        Case(
            (_X, _SEED),
            (_SQUARE, Op("neg", ("x",), ("z",)), Grad(("y", "z"), ("x",), ("g",), (None, "s"), create_graph=True)),
            "exact",
        ),
        {"g": [1.0, -6.0]},
        PADDLE_STATIC,
    ),
    Curated(
        "FG-02",
        "a target gradient weighs the elements",
        Case((_X, _SEED), (_SQUARE, Grad(("y",), ("x",), ("g",), ("s",), create_graph=True)), "exact"),
        {"g": [2.0, 40.0]},
        PADDLE_STATIC,
    ),
    Curated(
        "FG-02",
        "a target gradient of another shape is refused",
        Case((_X, Input("s", (1,), (1.0,))), (_SQUARE, Grad(("y",), ("x",), ("g",), ("s",), create_graph=True)), "exact"),
        dialect=PADDLE_STATIC,
    ),
    Curated(
        "FG-02",
        "as many target gradients as targets, or none",
        Case(
            (_X, _SEED),
            (_SQUARE, Op("neg", ("x",), ("z",)), Grad(("y", "z"), ("x",), ("g",), ("s",), create_graph=True)),
            "exact",
        ),
        dialect=PADDLE_STATIC,
    ),
    Curated(
        "FG-03",
        "nothing flows through the no_grad_set",
        Case(
            (_X,),
            (_SQUARE, Op("mul", ("y", "x"), ("z",)), Grad(("z",), ("x",), ("g",), create_graph=True, no_grad_vars=("y",))),
            "exact",
        ),
        {"g": [1.0, 4.0]},
        PADDLE_STATIC,
    ),
    Curated(
        "FG-03",
        "a variable that stops gradients belongs to the no_grad_set by itself",
        Case(
            (_X, _CONSTANT),
            (Op("mul", ("x", "c"), ("y",)), Grad(("y",), ("x", "c"), ("g", "h"), create_graph=True, allow_unused=True)),
            "exact",
        ),
        {"g": [3.0, 4.0], "h": None},
        PADDLE_STATIC,
    ),
    Curated(
        "FG-03",
        "stop_gradient counts as it is when gradients are asked for, whenever it was set",
        Case(
            (_X,),
            (
                _SQUARE,
                Op("mul", ("y", "x"), ("z",)),
                SetRequiresGrad("y", requires_grad=False),
                Grad(("z",), ("x", "y"), ("g", "h"), create_graph=True, allow_unused=True),
                SetRequiresGrad("y", requires_grad=True),
                Grad(("z",), ("x", "y"), ("k", "m"), create_graph=True),
            ),
            "exact",
        ),
        {"g": [1.0, 4.0], "h": None, "k": [3.0, 12.0], "m": [1.0, 2.0]},
        PADDLE_STATIC,
    ),
    Curated(
        "FG-04",
        "an input that does not affect the targets has no gradient",
        Case((_X, _W), (_SQUARE, Grad(("y",), ("x", "w"), ("g", "h"), create_graph=True, allow_unused=True)), "exact"),
        {"g": [2.0, 4.0], "h": None},
        PADDLE_STATIC,
    ),
    Curated(
        "FG-05",
        "convolution, relu, convolution, relu: as the document's example, with numbers",
        Case(
            (
                Input("x", (1, 2, 2, 2), (1.0, 2.0, 3.0, 4.0, 0.0, 1.0, -1.0, 2.0)),
                Input("k", (2, 2, 1, 1), (1.0, -1.0, 0.0, 1.0)),
                Input("l", (1, 2, 1, 1), (2.0, -1.0)),
            ),
            (
                Op("conv2d", ("x", "k"), ("c",), {"padding": [0, 0]}),
                Op("relu", ("c",), ("r",)),
                Op("conv2d", ("r", "l"), ("d",), {"padding": [0, 0]}),
                Op("relu", ("d",), ("y",)),
                Grad(("y",), ("x", "k", "l"), ("g", "h", "m"), create_graph=True),
            ),
            "exact",
        ),
        {
            "y": [[[[2.0, 1.0], [8.0, 2.0]]]],
            "g": [[[[2.0, 2.0], [2.0, 2.0]], [[-2.0, -3.0], [-2.0, -3.0]]]],
            "h": [[[[20.0]], [[4.0]]], [[[-6.0]], [[-3.0]]]],
            "m": [[[[8.0]], [[3.0]]]],
        },
        PADDLE_STATIC,
    ),
    Curated(
        "FG-06",
        "the gradient of a gradient",
        Case(
            (_X,),
            (
                Op("pow_scalar", ("x",), ("y",), {"exponent": 3.0}),
                Grad(("y",), ("x",), ("g",), create_graph=True),
                Grad(("g",), ("x",), ("h",), create_graph=True),
            ),
            "exact",
        ),
        {"g": [3.0, 12.0], "h": [6.0, 12.0]},
        PADDLE_STATIC,
    ),
    Curated(
        "FG-06",
        "the gradient of a gradient in its target gradient",
        Case(
            (_X, _SEED),
            (_SQUARE, Grad(("y",), ("x",), ("g",), ("s",), create_graph=True), Grad(("g",), ("s", "x"), ("h", "k"), create_graph=True)),
            "exact",
        ),
        {"h": [2.0, 4.0], "k": [2.0, 20.0]},
        PADDLE_STATIC,
    ),
)
