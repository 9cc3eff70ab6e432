"""The audit: whether the reference is right where everybody agrees.

A wrong rule of the reference that a framework happens to share shows in no comparison. So one agreeing case in `SHARE`, chosen by its
id, is held against the numerical oracle: one random direction for each of its last calls, in float64.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.case.outcome import Computed, grad_added
from conformance.case.steps import Backward, Grad, Op, RetainGrad
from conformance.judge.oracle import SilentError, slope

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.case.case import Case
    from conformance.case.outcome import Outcome
    from conformance.compare.promise import Promise

SHARE = 256
"""One case in `SHARE` is audited."""
CALLS = 2
"""How many calls of a case are: the last ones."""


def is_due(case: Case) -> bool:
    """Whether a case belongs to the share; the same on every machine."""
    return int(case.id, 16) % SHARE == 0


def audit(promise: Promise) -> str | None:
    """Return what the numerical oracle says against the reference, ``None`` if nothing."""
    case = promise.case
    rng = np.random.default_rng(int(case.id, 16))
    for number, name, gradient in list(_gradients(case, promise.widened, added=promise.info.dialect.accumulation == "added"))[-CALLS:]:
        if not np.isfinite(gradient).all():
            continue
        direction = rng.uniform(-1.0, 1.0, gradient.shape)
        if np.iscomplexobj(gradient):
            direction = direction + 1j * rng.uniform(-1.0, 1.0, gradient.shape)
        try:
            estimate = slope(promise, number, name, direction)
        except SilentError:
            continue
        value = float(np.sum(np.real(np.conjugate(gradient) * direction)))
        if np.isfinite(estimate.error) and not estimate.agrees_with(value):
            return (
                f"step {number}: the reference gives the gradient of {name} the slope {value:.12g} along a random direction, "
                f"the numerical derivative is {estimate.value:.12g} with an error below {estimate.error:.2g}"
            )
    return None


def _gradients(case: Case, outcome: Outcome, *, added: bool) -> Iterator[tuple[int, str, Any]]:
    """Yield one gradient of each call: the step, of which value it is, and the elements. It is there where passes ``added`` it."""
    plain = added and not any(isinstance(s, RetainGrad) for s in case.steps)
    for number, (step, seen) in enumerate(zip(case.steps, outcome.observations, strict=True)):
        if isinstance(seen, Computed) and isinstance(step, Grad):
            found = [(name, v.array) for name, v in zip(step.inputs, seen.values, strict=True) if v is not None]
            yield from ((number, name, array) for name, array in found[:1])
        state = getattr(seen, "state", None)
        if isinstance(seen, Computed) and isinstance(step, Backward) and state is not None and plain:
            leaves = [slot for slot, name in enumerate(case.watched) if state[slot] is not None and not _is_computed(case, name)]
            if step.inputs is None and leaves:
                yield number, case.watched[leaves[0]], grad_added(outcome, number, leaves[0])


def _is_computed(case: Case, name: str) -> bool:
    return any(isinstance(s, Op) and name in s.results for s in case.steps)
