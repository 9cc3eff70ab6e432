"""The life of a graph, judged on both frameworks: differentiated again, in parts, from its leaves, after a refusal.

Every case is small and exact; the reference says what should come, each framework runs in a process of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.case.case import Case, Input
from conformance.case.files import check
from conformance.case.steps import Backward, ClearGrad, Detach, Grad, Op, RetainGrad
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
S = Input("s", (), (3.0,))
NOTHING = Input("x", (0, 3), ())
ONE = Input("x", (1, 1), (3.0,))
SQUARE = Op("mul", ("x", "x"), ("h",))
PRODUCT = Op("mul", ("h", "w"), ("y",))
SUMMED = Op("sum", ("y",), ("z",), TOTAL)
SHIFTED = Op("add_scalar", ("x",), ("h",), {"other": 1.0})
KEEP = {"retain_graph": True}
LAST = {"retain_graph": False}


def life(*parts: Input | Step) -> Case:
    """Make an exact case of inputs and steps."""
    inputs = tuple(part for part in parts if isinstance(part, Input))
    return Case(inputs, tuple(part for part in parts if not isinstance(part, Input)), "exact")


CASES = {
    # Again over the same graph.
    "kept graph is differentiated three times": life(
        X, G, SQUARE, Backward(("h",), ("g",), **KEEP), Backward(("h",), ("g",), **KEEP), Backward(("h",), ("g",))
    ),
    "freed graph refuses a second time": life(X, G, SQUARE, Backward(("h",), ("g",)), Backward(("h",), ("g",))),
    "freed graph refuses grad after backward": life(X, G, SQUARE, Backward(("h",), ("g",)), Grad(("h",), ("x",), ("dx",), ("g",))),
    "freed graph that saved nothing": life(X, G, SHIFTED, Backward(("h",), ("g",)), Backward(("h",), ("g",))),
    "grad and then backward over a kept graph": life(
        X, G, SQUARE, Grad(("h",), ("x",), ("dx",), ("g",), **KEEP), Backward(("h",), ("g",))
    ),
    "grad and then backward over a freed graph": life(
        X, G, SQUARE, Grad(("h",), ("x",), ("dx",), ("g",), **LAST), Backward(("h",), ("g",))
    ),
    "graph of a derivative keeps the graph below it": life(
        X,
        G,
        SQUARE,
        Grad(("h",), ("x",), ("dx",), ("g",), create_graph=True),
        Backward(("dx",), ("g",), **KEEP),
        Backward(("h",), ("g",)),
    ),
    # Shared and partly freed graphs.
    "two heads on a trunk that is kept": life(
        X, W, G, SQUARE, PRODUCT, Op("add", ("h", "w"), ("k",)), Backward(("y",), ("g",), **KEEP), Backward(("k",), ("g",))
    ),
    "two heads on a trunk that was freed": life(
        X, W, G, SQUARE, PRODUCT, Op("add", ("h", "w"), ("k",)), Backward(("y",), ("g",)), Backward(("k",), ("g",))
    ),
    "two heads in one call": life(
        X, W, G, SQUARE, PRODUCT, Op("add", ("h", "w"), ("k",)), Backward(("y", "k"), ("g", "g")), Backward(("k",), ("g",))
    ),
    "new op on a freed trunk": life(X, W, G, SQUARE, Backward(("h",), ("g",)), PRODUCT, Backward(("y",), ("g",))),
    "new op on a kept trunk": life(X, W, G, SQUARE, Backward(("h",), ("g",), **KEEP), PRODUCT, Backward(("y",), ("g",))),
    "other branch of a partly freed graph accumulates": life(
        X, W, G, SQUARE, Backward(("h",), ("g",)), Op("add", ("w", "h"), ("y",)), Backward(("y",), ("g",))
    ),
    "upper part first, then the rest": life(
        X, W, G, SQUARE, PRODUCT, Grad(("y",), ("h",), ("dh",), ("g",), **KEEP), Backward(("h",), ("dh",)), Backward(("y",), ("g",))
    ),
    "lower part first, then the upper part alone": life(
        X, W, G, SQUARE, PRODUCT, Backward(("h",), ("g",)), Grad(("y",), ("h",), ("dh",), ("g",), **KEEP), Backward(("y",), ("g",))
    ),
    "detached part is not freed with the rest": life(
        X, W, G, SQUARE, Detach("h", ("d",)), Op("mul", ("d", "w"), ("y",)), Backward(("y",), ("g",)), Backward(("h",), ("g",))
    ),
    # Roots and inputs that coincide.
    "root that is a leaf": life(X, G, Backward(("x",), ("g",)), Backward(("x",), ("g",))),
    "leaf beside what is computed from it": life(X, G, SQUARE, Backward(("x", "h"), ("g", "g"))),
    "root that another root is computed from": life(X, W, G, SQUARE, PRODUCT, Backward(("h", "y"), ("g", "g"))),
    "root that is the input": life(X, G, SQUARE, Grad(("h",), ("h",), ("dh",), ("g",))),
    "leaf that is root and input": life(X, G, Grad(("x",), ("x",), ("dx",), ("g",))),
    "root twice": life(X, G, SQUARE, Backward(("h", "h"), ("g", "g"))),
    "input twice": life(X, G, SQUARE, Grad(("h",), ("x", "x"), ("dx", "dx2"), ("g",))),
    "backward into an input twice": life(X, G, SQUARE, Backward(("h",), ("g",), inputs=("x", "x"))),
    "backward into an input alone": life(X, W, G, SQUARE, PRODUCT, Backward(("y",), ("g",), inputs=("w",))),
    # Inputs that are not reached, or cannot be.
    "input that is not reached": life(X, W, G, SQUARE, Grad(("h",), ("w",), ("dw",), ("g",)), Backward(("h",), ("g",))),
    "input that is not reached is absent": life(
        X, W, G, SQUARE, Grad(("h",), ("w", "x"), ("dw", "dx"), ("g",), allow_unused=True, **KEEP), Backward(("h",), ("g",))
    ),
    "input that is computed from the root is not reached": life(
        X, W, G, SQUARE, PRODUCT, Grad(("h",), ("y",), ("dy",), ("g",), allow_unused=True)
    ),
    "input that is not differentiable": life(X, C, G, Op("mul", ("x", "c"), ("h",)), Grad(("h",), ("c",), ("dc",), ("g",))),
    "input that is not differentiable, where unused ones are allowed": life(
        X, C, G, Op("mul", ("x", "c"), ("h",)), Grad(("h",), ("c",), ("dc",), ("g",), allow_unused=True)
    ),
    "root that is not differentiable, beside one that is": life(
        X, C, G, Op("mul", ("c", "c"), ("k",)), SQUARE, Backward(("k", "h"), ("g", "g"))
    ),
    # Extents.
    "0-d tensors": life(S, Op("mul", ("s", "s"), ("h",)), Backward(("h",), **KEEP), Grad(("h",), ("s",), ("ds",))),
    "tensors without elements": life(
        NOTHING, Op("mul", ("x", "x"), ("y",)), SUMMED, Grad(("z",), ("x",), ("dx",), **KEEP), Backward(("z",))
    ),
    "root without elements needs a seed": life(NOTHING, SQUARE, Backward(("h",))),
    "tensors of one element need no seed, whatever their axes": life(ONE, SQUARE, Backward(("h",))),
    # Seeds.
    "root of several elements without a seed": life(X, SQUARE, Backward(("h",))),
    "seed of another shape": life(X, Input("g", (3,), (1.0, 2.0, 3.0), differentiable=False), SQUARE, Backward(("h",), ("g",))),
    "fewer seeds than roots": life(X, W, G, SQUARE, PRODUCT, Backward(("h", "y"), ("g",))),
    "seed of another dtype": life(
        X, Input("g", (2,), (1.0, 10.0), "float64", differentiable=False), SQUARE, Grad(("h",), ("x",), ("dx",), ("g",))
    ),
    # `.grad`.
    "accumulation goes on after clearing to None": life(
        X, G, SQUARE, Backward(("h",), ("g",), **KEEP), ClearGrad("x"), Backward(("h",), ("g",))
    ),
    "accumulation goes on after clearing to zero": life(
        X, G, SQUARE, Backward(("h",), ("g",), **KEEP), ClearGrad("x", "zero"), Backward(("h",), ("g",))
    ),
    "clearing what was never accumulated": life(X, G, ClearGrad("x", "zero"), SQUARE, Backward(("h",), ("g",))),
    "computed tensor that retains its gradient": life(
        X, W, G, SQUARE, RetainGrad("h"), PRODUCT, Backward(("y",), ("g",), **KEEP), ClearGrad("h"), Backward(("y",), ("g",))
    ),
    "computed tensor keeps no gradient until it is asked to": life(
        X, W, G, SQUARE, PRODUCT, Backward(("y",), ("g",), **KEEP), RetainGrad("h"), Backward(("y",), ("g",))
    ),
    "computed tensor that is an input of backward": life(X, W, G, SQUARE, PRODUCT, Backward(("y",), ("g",), inputs=("h",))),
    # After a refusal.
    "refused seed leaves the graph whole": life(X, W, G, SQUARE, PRODUCT, Backward(("h", "y"), ("g",)), Backward(("y",), ("g",))),
    "refused freed graph leaves the rest whole": life(
        X, W, G, SQUARE, Backward(("h",), ("g",)), Backward(("h",), ("g",)), Op("mul", ("w", "w"), ("y",)), Backward(("y",), ("g",))
    ),
    "refused input leaves the gradients alone": life(
        X, W, G, SQUARE, Backward(("h",), ("g",), **KEEP), Grad(("h",), ("w",), ("dw",), ("g",), **KEEP), Backward(("h",), ("g",))
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_case_is_well_formed(name: str) -> None:
    check(CASES[name], name)


DEVIATES = {
    ("paddle", "grad and then backward over a freed graph"): "paddle-grad-never-frees",
    ("paddle", "seed of another shape"): "paddle-seed-shape-unchecked",
}
"""Where a framework is known not to keep its promise, the finding."""


@pytest.mark.frameworks
@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("name", CASES)
def test_framework_answers_as_the_reference_or_deviates_as_known(workers: Workers, name: str, framework: str) -> None:
    verdict = judged.verdicts(workers, framework, CASES)[name]
    known = DEVIATES.get((framework, name))
    if known is None:
        assert verdict.bucket in AGREEING, verdict
    else:
        assert known == verdict.deviation, verdict
