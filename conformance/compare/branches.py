"""The branches of a run: what every primitive that decides a branch answered, and how to take other ones.

Such primitives are the slopes of piecewise linear functions, the shares of a maximum, positions in an order (``branch_sides`` of a
primitive). A run of a case asks them in an order that does not depend on the numbers, so a list of answers describes a branch of the
whole script, and the same script can be run on it.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from reference_impl.tape.primitive import Observation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reference_impl.tape.primitive import Primitive

Array: TypeAlias = "np.ndarray[Any, Any]"
Branches: TypeAlias = "list[Array]"
"""One answer for each question, in the order of the run; what is masked of it is left to the numbers."""
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


def taking(branches: Branches | None, beside: Choice | None) -> Choice | None:
    """Return a choice by which one run takes the given branches; ``None``: it takes those that the numbers say.

    The branches are answers to the questions of a run in their order. A run that asks other questions keeps its own answers.
    ``beside``: another choice, which is asked after that of the branches and has the last word.
    """
    if branches is None:
        return beside
    left = iter(branches)

    def choose(primitive: Primitive, arrays: list[Any], attrs: dict[str, Any], out: Any) -> Any:
        given = next(left, None)
        if given is not None and given.shape == np.shape(out):
            out = np.where(np.ma.getmaskarray(given), out, np.ma.getdata(given)).astype(out.dtype)
        return out if beside is None else beside(primitive, arrays, attrs, out)

    return choose


def turned(branches: Branches, plain: Branches) -> Branches:
    """Return where branches turn off: their answers, with those masked that the plain branches have as well."""
    pairs = zip(branches, plain, strict=True)
    return [np.ma.masked_array(taken, (taken == usual) | (np.isnan(taken) & np.isnan(usual))) for taken, usual in pairs]


class Recorder:
    """Notes every question with its answer, and with its answers on either side of the kinks that lie exactly there."""

    def __init__(self) -> None:
        self.asked: list[tuple[Primitive, list[Any], dict[str, Any]]] = []
        self.answers: Branches = []
        self.sides: list[list[Array]] = []
        self.along: list[Any] = []

    def choose(self, primitive: Primitive, arrays: list[Any], attrs: dict[str, Any], out: Any) -> Any:
        """Note a question; a `Choice`."""
        self.asked.append((primitive, arrays, attrs))
        self.answers.append(np.asarray(out))
        self.along.append(attrs.get("axis", "elements"))
        if primitive.branch_sides is not None:
            itself = len(arrays) > 1 and all(array is arrays[0] for array in arrays)  # max(x, x) is x, and has no kink
            self.sides.append([] if itself else [np.asarray(side) for side in primitive.branch_sides(out, *arrays, **attrs)])
        return out


def at_ties(runs: Sequence[Recorder]) -> Branches:
    """Return the answers of the first run, but at ties those elements whose operands lie on both sides of one in these runs.

    Where a number may be positive or negative it may be 0, and where either of two may be the larger they may be equal. Noise never
    makes them that, while an engine does whose roundings cancel: ``sign`` of a difference of equal numbers is 0.
    """
    answers = []
    for number, answer in enumerate(runs[0].answers):
        primitive, _, attrs = runs[0].asked[number]
        operands = [[np.asarray(array) for array in run.asked[number][1]] for run in runs]
        alike = all(o.shape == answer.shape and o.dtype.kind == "f" for of_run in operands for o in of_run)
        if not alike or len(operands[0]) > 2 or runs[0].along[number] != "elements":
            answers.append(answer)
            continue
        sides = np.array([np.sign(one - (other[0] if other else 0)) for one, *other in operands])
        last = operands[0][-1]
        tied = primitive.forward(last, last, **attrs) if len(operands[0]) == 2 else primitive.forward(np.zeros_like(last), **attrs)
        answers.append(np.where((sides.min(axis=0) < 0) & (sides.max(axis=0) > 0), tied, answer).astype(answer.dtype))
    return answers


def on_sides(run: Recorder) -> list[Branches]:
    """Return the answers of a run on one side of all kinks that lie exactly there, and on the other ones."""
    most = max(map(len, run.sides), default=0)
    pairs = [*zip(run.answers, run.sides, strict=True)]
    return [[sides[number] if number < len(sides) else answer for answer, sides in pairs] for number in range(most)]
