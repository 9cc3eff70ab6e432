"""Entries and wrong numbers of which tests ask whether these bear a signature."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.case.case import Case, Input
from conformance.case.steps import Grad, Op
from conformance.compare.mismatch import Mismatch
from conformance.deviations.counterfactuals.rules import RULES
from conformance.deviations.entries import Deviation
from tests.conformance.engines import TOTAL, answer

if TYPE_CHECKING:
    from conformance.case.outcome import Outcome


X, Y = Input("x", (2,), (2.0, 3.0)), Input("y", (2,), (5.0, 7.0))
GRAD = Grad(("z",), ("x",), ("g",))
PRODUCT = Case((X, Y), (Op("mul", ("x", "x"), ("q",)), Op("sum", ("q",), ("z",), TOTAL), GRAD), "exact")
TIES = "as if derivatives gave ties to the second operand"
ONE_SIDED = "as if derivatives took the slope at 0 from the negative side"
LOST_AXES = "as if sums of groups lost their axes"
K = Input("k", (2,), (1.0, 2.0), differentiable=False)
Z = Input("z", (2,), ((1.0, 2.0), (3.0, -1.0)), "complex64")
CONSTANT_SLOPE = "as if the slope of a power were constant where its exponent is 0"
EMPTIED = "as if empty gradients had an element"
SAVED = "as if second derivatives were made of saved statistics"
IN_A_ROW = "as if weights were read in a row"
UNDRAWN = "as if arrows to lone weights and biases were not drawn"
MEANT = {
    TIES: "maximum",
    CONSTANT_SLOPE: "pow",
    EMPTIED: "sub",
    ONE_SIDED: "leaky_relu",
    LOST_AXES: "group_norm",
    UNDRAWN: "batch_norm_train",
    SAVED: "layer_norm",
    IN_A_ROW: "batch_norm_eval",
    "as if an op were left out": "mul_scalar",
}
"""The op that an entry of a signature is about."""


def entry(*signature: str) -> Deviation:
    """Make an entry with a signature; one of rules is about those of `mul`, or of the op that it is made for."""
    above = tuple(MEANT.get(words, "mul") for words in signature if words in RULES or words in MEANT)
    return Deviation("a", "other", "==1.*", ("grad",), ("value",), "because", "a", signature=signature, above=above)


def found(case: Case, got: Any) -> Mismatch:
    """Make the difference that a call answers something else in its first result."""
    step = len(case.steps) - 1
    wanted = answer(case).observations[step].values[0].array  # type: ignore[union-attr]
    return Mismatch(step, "value", "result", "right", "wrong", "g", "g", 0, wanted, np.asarray(got, wanted.dtype))


def wrong(case: Case, numbers: list[float]) -> Outcome:
    """Answer something else at the last call."""
    actual = answer(case)
    actual.observations[-1].values[0].array[...] = numbers  # type: ignore[union-attr]
    return actual
