"""Clauses that no case can say: what is no variable is refused, and an optimizer trains.

A check asks a backend of static programs for a measurement (see `conformance.backends.program_interpreter.Programs`) and compares it
with what the clause promises; the reference's own answer is held to the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.backends.program_interpreter import Regression
from conformance.compare.rounding import spread, undisturbed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from conformance.compare.rounding import Rounded

LINE = Regression(
    x=np.array([[1.0, 2.0], [0.0, 1.0], [-1.0, 0.5], [2.0, -1.0]], np.float32),
    y=np.array([[1.0], [-1.0], [-2.0], [3.0]], np.float32),
    weight=np.array([[0.5], [0.25]], np.float32),
    bias=np.array([0.125], np.float32),
    learning_rate=0.125,
    runs=12,
)


@dataclass(frozen=True)
class Check:
    """One promise.

    ``disagreement(backend)`` says how a backend breaks it; empty if it does not. ``known``: the backends that do, with the finding.
    """

    clause: str
    title: str
    disagreement: Callable[[Any], str]
    known: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Clause id and title."""
        return f"{self.clause} {self.title}"


def loss_is_no_variable(backend: Any) -> str:
    """Have the backward part appended to what is no variable."""
    refusal = backend.refusal_of_loss(1.5)
    return "" if refusal == "AssertionError" else f"append_backward(1.5) ends with {refusal}, promised is an AssertionError"


def regression_is_trained(backend: Any) -> str:
    """Train ``mean((x w + b - y)^2)`` by gradient descent, and do the same by hand."""
    losses = backend.train(LINE)
    promised, radius = spread(partial(by_hand, LINE), "float32")
    right = len(losses) == len(promised) and bool((np.abs(np.subtract(losses, promised)) <= radius).all())
    return "" if right else f"the losses are {losses}, by hand they are {list(promised)}"


def by_hand(task: Regression, rounded: Rounded = undisturbed) -> list[float]:
    """Return the loss before every update, in float64, by the formula of the gradient of a mean of squares; see `spread`."""
    x, y, weight, bias = (a.astype(np.float64) for a in (task.x, task.y, task.weight, task.bias))
    losses = []
    for _ in range(task.runs):
        off = rounded(x @ weight + bias - y, np.abs(x) @ np.abs(weight) + np.abs(bias) + np.abs(y))
        squares = float(np.mean(off**2))
        losses.append(rounded(squares, squares))
        rate = 2.0 * task.learning_rate / off.size
        weight = rounded(weight - rate * x.T @ off, np.abs(weight) + rate * np.abs(x.T) @ np.abs(off))
        bias = rounded(bias - rate * off.sum(axis=0), np.abs(bias) + rate * np.abs(off).sum(axis=0))
    return losses


CHECKS = (
    Check(
        "FA-07",
        "a loss that is no variable is an AssertionError",
        loss_is_no_variable,
        dict.fromkeys(("paddle-static", "paddle-static-legacy"), "paddle-static-loss-type-error"),
    ),
    Check("FA-08", "minimize appends the backward part and trains a regression", regression_is_trained),
)
