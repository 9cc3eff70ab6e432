"""Probes: the small cases that `conformance.backends.contract` tries an adapter with, and what it must show of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.case.case import Case, Input
from conformance.case.outcome import Blocked, Raised
from conformance.case.steps import Backward, ClearGrad, Detach, Grad, Op

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reference_impl import Dialect

ALL = {"axis": None, "keepdims": False}
X, W = Input("x", (3,), (1.0, 2.0, 3.0)), Input("w", (3,), (4.0, 5.0, 6.0))
NUMBER = Input("x", (), (3.0,))
BATCH = Input("b", (2, 3), (1.0, 1.0, 1.0, 0.0, 1.0, 2.0), differentiable=False)
SQUARE, TOTAL = Op("mul", ("x", "x"), ("y",)), Op("sum", ("y",), ("z",), ALL)
PRODUCT, TOTALS = Op("mul", ("w", "x"), ("u",)), (TOTAL, Op("sum", ("u",), ("t",), ALL))
MISFIT = Op("add", ("x", "m"), ("s",))
UNUSED = Case((X, W), (SQUARE, TOTAL, Grad(("z",), ("x", "w"), ("g", "h"), allow_unused=True)))


@dataclass(frozen=True)
class Probe:
    """A small case, and what an adapter must show of its results, by their names, and of ``.grad`` at the end.

    Attributes:
        seen, final: the elements (float32 where no array says otherwise), ``None`` where it is absent, or the observation.
        flags: the ``requires_grad`` of a result, or of ``x.grad`` at the end.
        static: whether a program can be such a case as well.
        unreached: the probe is for dialects that give this answer where nothing is reached; empty: for all.
    """

    claim: str
    case: Case
    seen: Mapping[str, Any]
    final: Mapping[str, Any] | None = None
    flags: Mapping[str, bool] | None = None
    static: bool = True
    unreached: str = ""

    def is_for(self, dialect: Dialect) -> bool:
        """Whether an engine of a dialect is to be tried with it."""
        return (self.static or not dialect.static) and self.unreached in ("", dialect.unreached)


PROBES = (
    Probe("the elements of a result are copied out as they are", Case((X,), (SQUARE,)), {"y": [1.0, 4.0, 9.0]}, flags={"y": True}),
    Probe(
        "shape and dtype are those of the engine's tensor",
        Case((Input("x", (1, 2), (1.0, 2.0), "float64"),), (SQUARE,)),
        {"y": np.array([[1.0, 4.0]])},
    ),
    Probe(
        "what is not finite comes through",
        Case((Input("x", (3,), ("inf", "-inf", "nan")),), (Op("neg", ("x",), ("y",)),)),
        {"y": [float("-inf"), float("inf"), float("nan")]},
    ),
    Probe("detach drops the flag", Case((X,), (Detach("x", ("d",)),)), {"d": [1.0, 2.0, 3.0]}, flags={"d": False}),
    Probe(
        "nothing is recorded inside no_grad",
        Case((X,), (Op("mul", ("x", "x"), ("y",), no_grad=True),)),
        {"y": [1.0, 4.0, 9.0]},
        flags={"y": False},
    ),
    Probe(
        "the seed of a call is passed on",
        Case((X, W), (SQUARE, Grad(("y",), ("x",), ("g",), grad_outputs=("w",)))),
        {"g": [8.0, 20.0, 36.0]},
    ),
    Probe("an absent gradient is None and not zeros", UNUSED, {"g": [2.0, 4.0, 6.0], "h": None}, unreached="absent"),
    Probe(
        "a gradient that nothing flows into is zeros, as the dialect says",
        UNUSED,
        {"g": [2.0, 4.0, 6.0], "h": [0.0] * 3},
        unreached="zeros",
    ),
    Probe(
        "a .grad that is absent is None and not zeros",
        Case((X, W), (SQUARE, TOTAL, Backward(("z",)))),
        {},
        final={"x": [2.0, 4.0, 6.0], "w": None},
        static=False,
    ),
    Probe(
        "clearing can make a .grad absent",
        Case((X,), (SQUARE, TOTAL, Backward(("z",)), ClearGrad("x", "none"))),
        {},
        final={"x": None},
        static=False,
    ),
    Probe(
        "clearing can make a .grad zero",
        Case((X,), (SQUARE, TOTAL, Backward(("z",)), ClearGrad("x", "zero"))),
        {},
        final={"x": [0.0, 0.0, 0.0]},
        static=False,
    ),
    Probe(
        "all roots of a call are passed on",
        Case((X, W), (SQUARE, PRODUCT, *TOTALS, Backward(("z", "t")))),
        {},
        final={"x": [6.0, 9.0, 12.0], "w": [1.0, 2.0, 3.0]},
        static=False,
    ),
    Probe(
        "backward passes on the inputs that it is asked for, or does not offer them (backward.inputs)",
        Case((X, W), (PRODUCT, TOTALS[1], Backward(("t",), inputs=("x",)))),
        {},
        final={"x": [4.0, 5.0, 6.0], "w": None},
        static=False,
    ),
    Probe(
        "seeds are passed on by their old name, too, or it is not offered (grad_variables)",
        Case((X, W), (SQUARE, Backward(("y",), grad_variables=("w",)))),
        {},
        final={"x": [8.0, 20.0, 36.0]},
        static=False,
    ),
    Probe(
        "backward passes on create_graph, or does not offer it (backward.create_graph)",
        Case((X,), (SQUARE, TOTAL, Backward(("z",), create_graph=True))),
        {},
        final={"x": [2.0, 4.0, 6.0]},
        flags={"x.grad": True},
        static=False,
    ),
    Probe(
        "create_graph is passed on, or it is not offered (grad.create_graph), or derivatives of derivatives are not (grad.again)",
        Case(
            (X,),
            (
                SQUARE,
                TOTAL,
                Grad(("z",), ("x",), ("g",), create_graph=True),
                Op("sum", ("g",), ("t",), ALL),
                Grad(("t",), ("x",), ("h",)),
            ),
        ),
        {"h": [2.0, 2.0, 2.0]},
        static=False,
    ),
    Probe(
        "materialize_grads is passed on, or it is not offered (materialize_grads)",
        Case((X, W), (SQUARE, TOTAL, Grad(("z",), ("x", "w"), ("g", "h"), materialize_grads=True))),
        {"g": [2.0, 4.0, 6.0], "h": [0.0] * 3},
        static=False,
    ),
    Probe(
        "is_grads_batched is passed on, or it is not offered (is_grads_batched)",
        Case((X, BATCH), (SQUARE, Grad(("y",), ("x",), ("g",), ("b",), is_grads_batched=True))),
        {"g": np.array([[2.0, 4.0, 6.0], [0.0, 4.0, 12.0]], "float32")},
        static=False,
    ),
    Probe(
        "a script goes on after an error, and what needs the missing result is blocked",
        Case((X, Input("m", (2,), (1.0, 2.0))), (MISFIT, Op("sin", ("s",), ("t",)), SQUARE)),
        {"s": Raised, "t": Blocked("s"), "y": [1.0, 4.0, 9.0]},
    ),
)
