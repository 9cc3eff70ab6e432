"""The in-place form of an op: what each framework calls it, and what it is drawn with.

An op in place takes its first operand as the target. What it needs beside that is drawn by the generator where it is one more
operand that broadcasts (``x.add_(y)``), and by the row where it is anything else: `tril` draws a diagonal, and finds that a vector has
none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from conformance.ops.sampler import Arguments, Draft, Sampler

SLICES = "tuple(slice(*k) for k in key)"
"""How the frameworks write the key of a slice: the attribute ``key`` lists start, stop and step of the leading axes."""


@dataclass(frozen=True, slots=True)
class InPlaceForm:
    """How an op is written in place.

    Attributes:
        calls: per framework, the statement's expression; `conformance.ops.calls.both` where they write it alike.
        draw: choose the other operands and the attributes for a target; ``None`` if nothing fits. Without it there are no
            attributes, and another operand is one that broadcasts to the target.
        partial: whether it may write a part of the target.
        by_itself: whether the target is drawn as its own other operand now and then.
        turn: where it stands among the forms when one is drawn, those that are called alike first. It keeps the scripts of a seed what
            they were before the forms stood in the rows; a new form needs none.
    """

    calls: Mapping[str, str]
    draw: Callable[[Sampler, Draft], Arguments | None] | None = None
    partial: bool = False
    by_itself: bool = False
    turn: int = 0

    @property
    def place(self) -> tuple[bool, int]:
        """Where the form stands when one is drawn."""
        return len(set(self.calls.values())) > 1, self.turn


@dataclass(frozen=True, slots=True)
class NotOffered:
    """Why random scripts do not use a form in place that some framework has."""

    reason: str


def attribute(name: str, draw: Callable[[Sampler], Any]) -> Callable[[Sampler, Draft], Arguments | None]:
    """Draw one attribute and no other operand."""
    return lambda s, _: ([], {name: draw(s)})


LATER = NotOffered("both frameworks have the form; it is not drawn yet")
ONE_ALONE = NotOffered("one of the frameworks alone has the form in place")
RESHAPES = NotOffered("it changes the shape of a value that the case knows by one shape")

NOT_OFFERED = {
    "in-place updates beside products of matrices": "what these keep for their gradients is not tabulated yet",
    "writes to what may be a copy": "whether expand, split and some reshapes share memory is not promised alike",
    "backward(inputs=) beside in-place updates": "which version of a rewritten input it means is not modelled yet",
    "leaves that are laid out": "both frameworks refuse to write a view of a leaf, and the sketch does not know the constant below it",
    "second derivatives after a write to shared memory": "what a rewritten view keeps differs per framework and is not modelled yet",
}
"""What random scripts do not do in place, beside the forms of single ops, with the reason."""
