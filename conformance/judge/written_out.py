"""What a script leaves to the dialect, written out, so that an engine of another dialect can be asked the same.

Of ``g = grad([y], [x])`` with ``y`` of two elements a functional engine says what it is, and the next derivative of ``g`` as well; in
PyTorch the call needs a seed, and ``create_graph``. With ones for the seeds that are missing, graphs that are kept and zeros for what
is not reached, where that is what the dialect answers, both promise the same numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from conformance.case.case import Case, input_of
from conformance.case.outcome import Computed
from conformance.case.steps import Grad, observed

if TYPE_CHECKING:
    from conformance.case.case import Input
    from conformance.compare.promise import Promise

ONES = "ones_"
"""Begins the name of a seed that the script does not give."""


def written_out(promise: Promise) -> Case:
    """Return the case with every `grad` asked in words that leave nothing open; all steps stay where they are."""
    case, dialect = promise.case, promise.info.dialect
    arrays = {entry.name: entry.array() for entry in case.inputs}
    ones: list[Input] = []
    steps = []
    for step, seen in zip(case.steps, promise.outcome.observations, strict=True):
        if isinstance(seen, Computed):
            arrays |= {name: value.array for name, value in zip(observed(step), seen.values, strict=False) if value is not None}
        seeds = list(step.grad_outputs or (None,) * len(step.outputs)) if isinstance(step, Grad) else []
        if not isinstance(step, Grad) or len(seeds) != len(step.outputs) or not all(root in arrays for root in step.outputs):
            steps.append(step)  # no call, or one that is refused
            continue
        for position, root in enumerate(step.outputs):
            if seeds[position] is None:
                ones.append(input_of(f"{ONES}{len(ones)}", np.ones_like(arrays[root])))
                seeds[position] = ones[-1].name
        asked = {"materialize_grads": True, "allow_unused": True} if dialect.unreached == "zeros" else {}
        steps.append(msgspec.structs.replace(step, grad_outputs=tuple(seeds), retain_graph=True, create_graph=True, **asked))
    return Case((*case.inputs, *ones), tuple(steps), case.lane)
