"""The laws of a run as a table: how many cases each was tried on, per backend, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.laws.registry import LAWS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

COLUMNS = ("tried", "held", "unsettled", "known", "broken")


@dataclass(frozen=True, slots=True)
class LawRow:
    """One law; ``numbers`` are, for each backend, those of `COLUMNS`."""

    law: str
    statement: str
    numbers: list[int]
    broken: bool


def law_rows(tried: Mapping[str, Mapping[str, Mapping[str, int]]], backends: Sequence[str]) -> list[LawRow]:
    """List the laws, those never tried too; nothing if none was tried at all.

    ``tried``: by backend and law, how many cases ended in which status.
    """
    if not any(tried.values()):
        return []
    rows = []
    for law in dict.fromkeys([*LAWS, *(law for counts in tried.values() for law in counts)]):
        counts = [tried.get(name, {}).get(law, {}) for name in backends]
        numbers = [sum(c.values()) if word == "tried" else c.get(word, 0) for c in counts for word in COLUMNS]
        statement = LAWS[law].statement if law in LAWS else ""
        rows.append(LawRow(law, statement, numbers, any(c.get("broken") for c in counts)))
    return rows
