"""A dispute and what can be said of it: what a voter is told, and what comes back."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.backends import Backend
    from conformance.case.case import Case
    from conformance.case.outcome import Outcome
    from conformance.compare.mismatch import Mismatch
    from conformance.compare.promise import Promise


class Opinion(StrEnum):
    """What a voter says of one of the two."""

    RIGHT = "right"
    WRONG = "wrong"
    SILENT = "cannot tell"


@dataclass(frozen=True, slots=True)
class Vote:
    """One voter's opinion of the accused engine and of the reference, with the reason."""

    voter: str
    accused: Opinion
    reference: Opinion
    reason: str


@dataclass(frozen=True, slots=True)
class Blame:
    """``who``: ``accused``, ``reference`` or ``unclear``; ``node``: the first wrong op of the reverse pass, or why none is named."""

    who: str
    votes: tuple[Vote, ...]
    node: str


@dataclass(frozen=True)
class Dispute:
    """A difference and what was observed: what a voter is told."""

    promise: Promise
    accused: Backend
    actual: Outcome
    found: Mismatch
    others: Sequence[Backend] = ()

    @property
    def case(self) -> Case:
        """The case that is disputed."""
        return self.promise.case


def silent(voter: str, reason: str) -> Vote:
    """Return the vote of one who cannot tell."""
    return Vote(voter, Opinion.SILENT, Opinion.SILENT, reason)


def opinion(holds: bool) -> Opinion:
    """Say right or wrong."""
    return Opinion.RIGHT if holds else Opinion.WRONG
