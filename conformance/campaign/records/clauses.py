"""The records of the clause table: what became of every promise and every switch on every backend."""

from __future__ import annotations

import msgspec


class ClauseCase(msgspec.Struct, frozen=True):
    """A curated case on a backend: how it stands to the clause, and why."""

    case: str
    standing: str
    reason: str


class ClauseCell(msgspec.Struct, frozen=True):
    """A clause on a backend: the worst of its cases, in words, and the cases."""

    standing: str
    text: str
    cases: tuple[ClauseCase, ...]


class ClauseRow(msgspec.Struct, frozen=True):
    """A clause or a switch on all backends."""

    id: str
    promise: str
    document: str
    backends: dict[str, ClauseCell]
