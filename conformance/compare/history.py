"""The history of a run: what the reference applied to what, and what came out, in the order in which it did.

How far rounding can carry a number is worked out beside the run that says what it should be. Whether anybody will ask is not known
while that runs, and mostly nobody does; to run again for those who do would cost them a second run. So the run is noted down, which
costs little, and what is computed beside it is computed from the notes. They are the same run: a primitive takes arrays and attributes
and knows nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from conformance.case.outcome import Outcome
    from reference_impl.tape.primitive import Primitive


class Applied(NamedTuple):
    """One application of a primitive: its operands, its attributes and its output; arrays are known by their identity."""

    primitive: Primitive
    arrays: list[Any]
    attrs: dict[str, Any]
    out: Any


class History(NamedTuple):
    """What was observed of a run, and all that was applied in it."""

    outcome: Outcome
    applied: list[Applied]


class Notes:
    """Notes down what a run applies."""

    def __init__(self) -> None:
        self.applied: list[Applied] = []

    def observe(self, primitive: Primitive, arrays: list[Any], attrs: dict[str, Any], out: Any) -> Any:
        """Note an application, and have its output be an array, so that it is known where it is used; an observer.

        What a fused op made was made by the last primitive of its formula, which is noted.
        """
        if primitive.fused:
            return out
        if primitive.multi_output:
            out = tuple(map(np.asarray, out))
        elif type(out) is not np.ndarray:
            out = np.asarray(out)
        self.applied.append(Applied(primitive, arrays, attrs, out))
        return out
