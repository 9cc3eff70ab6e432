"""The branches of a run: what every primitive that decides a branch answered, and how to take other ones.

Such primitives are the slopes of piecewise linear functions, the shares of a maximum, positions in an order (``branch_sides`` of a
primitive). A run of a case asks them in an order that does not depend on the numbers, so a list of answers describes a branch of the
whole script, and the same script can be run on it.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from reference_impl import OPS
from reference_impl.tape.primitive import Observation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reference_impl.tape.primitive import Primitive

Array: TypeAlias = "np.ndarray[Any, Any]"
Branches: TypeAlias = "list[Array]"
"""One answer for each question, in the order of the run."""
Choice: TypeAlias = "Callable[[Primitive, list[Any], dict[str, Any], Any], Any]"
"""Answers in the place of a primitive that decides a branch; it is given the operands, the attributes and the primitive's answer."""
Observer: TypeAlias = "Callable[[Primitive, list[Any], dict[str, Any], Any], Any]"
"""Looks at a primitive's operands, attributes and output; what it returns is the output."""


@contextmanager
def observing(observe: Observer | None) -> Iterator[None]:
    """Have every output of a primitive looked at, or replaced, by a function; see `reference_impl.tape.primitive.Observation`."""
    before, Observation.observer = Observation.observer, observe
    try:
        yield
    finally:
        Observation.observer = before


@contextmanager
def choosing(choose: Choice) -> Iterator[None]:
    """Have every branch decided by a function of the primitive, its operands and attributes and its own answer."""
    Observation.chooser = choose
    try:
        yield
    finally:
        Observation.chooser = None


@contextmanager
def taking(branches: Branches | None) -> Iterator[None]:
    """Take the given branches; ``None``: those that the numbers say. A run with other questions keeps its own answers."""
    if branches is None:
        yield
        return
    left = iter(branches)

    def choose(_: Primitive, __: list[Any], ___: dict[str, Any], out: Any) -> Any:
        given = next(left, None)
        return out if given is None or given.shape != np.shape(out) else given.astype(out.dtype)

    with choosing(choose):
        yield


class Recorder:
    """Notes every question with its answer, and with its answers on either side of the kinks that lie exactly there."""

    def __init__(self) -> None:
        self.answers: Branches = []
        self.sides: list[list[Array]] = []
        self.along: list[Any] = []
        self.signs: list[bool] = []

    def choose(self, primitive: Primitive, arrays: list[Any], attrs: dict[str, Any], out: Any) -> Any:
        """Note a question; a `Choice`."""
        self.answers.append(np.asarray(out))
        self.along.append(attrs.get("axis", "elements"))
        self.signs.append(primitive is OPS["sign"])
        if primitive.branch_sides is not None:
            itself = len(arrays) > 1 and all(array is arrays[0] for array in arrays)  # max(x, x) is x, and has no kink
            self.sides.append([] if itself else [np.asarray(side) for side in primitive.branch_sides(out, *arrays, **attrs)])
        return out
