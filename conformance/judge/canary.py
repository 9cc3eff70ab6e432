"""The canary: whether a process still differentiates correctly after an engine refused something.

An engine that raises may leave its graph, its grad mode or its memory damaged, and every later case of the process would be red or
green for the wrong reason. So after each refusal a small case with a known answer is run.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from conformance.case.case import Case, Input
from conformance.case.outcome import Computed, Raised
from conformance.case.steps import Backward, Grad, Op
from reference_impl import Category

if TYPE_CHECKING:
    from conformance.backends import Backend
    from conformance.case.outcome import Outcome, Value

CANARY = Case(
    (Input("x", (2,), (2.0, 3.0)), Input("s", (2,), (1.0, 1.0), differentiable=False)),
    (Op("mul", ("x", "x"), ("y",)), Grad(("y",), ("x",), ("g",), ("s",), retain_graph=True), Backward(("y",), ("s",))),
    "exact",
)
"""One op and its gradient, which every backend offers."""


def read_past_its_end(expected: Outcome, actual: Outcome) -> bool:
    """Whether a seed or gradient of the wrong shape was taken: memory may be damaged, so nothing more may be concluded here."""
    return any(
        isinstance(e, Raised) and e.category in (Category.SEED_SHAPE, Category.CALLBACK_RESULT) and not isinstance(a, Raised)
        for e, a in zip(expected.observations, actual.observations, strict=True)
    )


def healthy_after(actual: Outcome, engine: Backend) -> bool:
    """If any step was refused, run the canary; return whether the engine still differentiates correctly."""
    return not any(isinstance(o, Raised) for o in actual.observations) or healthy(engine)


def healthy(engine: Backend) -> bool:
    """Run the canary: whether the engine, after whatever it refused, still finds that the derivative of ``x * x`` is ``2 x``."""
    with suppress(Exception):
        outcome = engine.run(CANARY)
        seen = outcome.observations[1]
        if engine.info.dialect.static:
            return isinstance(seen, Computed) and _right(seen.values[0])
        return isinstance(seen, Computed) and _right(seen.values[0]) and _right(outcome.final[0])
    return False


def _right(gradient: Value | None) -> bool:
    return gradient is not None and np.array_equal(gradient.array, 2.0 * CANARY.inputs[0].array())
