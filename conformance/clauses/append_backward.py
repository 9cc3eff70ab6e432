"""Clauses of ``fluid.backward.append_backward``, today ``paddle.static.append_backward``; the numbers follow from the definition."""

from conformance.case.case import Case, Input
from conformance.case.steps import AppendBackward, Detach, Op, SetRequiresGrad
from conformance.clauses.curated import Curated
from reference_impl import PADDLE_STATIC

_DATA = Input("d", (2,), (5.0, 6.0), differentiable=False)
_W = Input("w", (2,), (1.0, 2.0))
_V = Input("v", (2,), (3.0, 4.0))
_MEAN = {"axis": None, "keepdims": False}
_LOSS = (
    Op("mul", ("w", "d"), ("a",)),
    Op("mul", ("a", "v"), ("b",)),
    Op("mean", ("b",), ("loss",), _MEAN),
)
_FORWARD = {"a": [5.0, 12.0], "b": [15.0, 48.0], "loss": 31.5}
_OF_W, _OF_V = [7.5, 12.0], [2.5, 6.0]

CASES = (
    Curated(
        "FA-01",
        "the backward part is appended, and the forward part stays as it is",
        Case((_DATA, _W, _V), (*_LOSS, AppendBackward("loss", ("g", "h")), Op("neg", ("a",), ("e",))), "exact"),
        {**_FORWARD, "e": [-5.0, -12.0]},
        PADDLE_STATIC,
    ),
    Curated(
        "FA-02",
        "every parameter has its gradient",
        Case((_DATA, _W, _V), (*_LOSS, AppendBackward("loss", ("g", "h"))), "exact"),
        {"g": _OF_W, "h": _OF_V},
        PADDLE_STATIC,
    ),
    Curated(
        "FA-03",
        "a parameter_list restricts the answer",
        Case((_DATA, _W, _V), (*_LOSS, AppendBackward("loss", ("h",), ("v",))), "exact"),
        {"h": _OF_V},
        PADDLE_STATIC,
    ),
    Curated(
        "FA-03",
        "a parameter_list of names",
        Case((_DATA, _W, _V), (*_LOSS, AppendBackward("loss", ("h",), ("v",), by_name=True)), "exact"),
        {"h": _OF_V},
        PADDLE_STATIC,
    ),
    Curated(
        "FA-04",
        "nothing flows to or through the no_grad_set",
        Case((_DATA, _W, _V), (*_LOSS, AppendBackward("loss", ("g", "h"), no_grad_set=("a",))), "exact"),
        {"g": None, "h": _OF_V},
        PADDLE_STATIC,
    ),
    Curated(
        "FA-05",
        "a variable that stops gradients belongs to the no_grad_set by itself",
        Case(
            (_DATA, _W, _V),
            (
                Detach("w", ("c",)),
                Op("mul", ("c", "d"), ("a",)),
                *_LOSS[1:],
                AppendBackward("loss", ("g", "h")),
            ),
            "exact",
        ),
        {"g": None, "h": _OF_V},
        PADDLE_STATIC,
    ),
    Curated(
        "FA-05",
        "a parameter that is frozen has no gradient, and is passed by; so are those behind a variable that stops gradients",
        Case(
            (_DATA, _W, _V),
            (
                *_LOSS,
                SetRequiresGrad("v", requires_grad=False),
                AppendBackward("loss", ("g", "h")),
                SetRequiresGrad("v", requires_grad=True),
                SetRequiresGrad("a", requires_grad=False),
                AppendBackward("loss", ("k", "m")),
            ),
            "exact",
        ),
        {"g": _OF_W, "h": None, "k": None, "m": _OF_V},
        PADDLE_STATIC,
    ),
    Curated(
        "FA-06",
        "a callback is called for every gradient operator, and finds the variables whose gradients that takes",
        Case((_DATA, _W, _V), (*_LOSS, AppendBackward("loss", ("g", "h"), callbacks=True)), "exact"),
        {"events@3": ["loss", "b", "a"], "g": _OF_W, "h": _OF_V},
        PADDLE_STATIC,
    ),
)
