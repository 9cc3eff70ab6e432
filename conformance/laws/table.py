"""The laws of a run as a table: how many cases each was tried on, per backend, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from conformance.laws.registry import LAWS

COLUMNS = ("tried", "held", "unsettled", "known", "broken")


@dataclass(frozen=True, slots=True)
class LawRow:
    """One law; ``numbers`` are, for each backend, those of `COLUMNS`."""

    law: str
    statement: str
    numbers: list[int]
    broken: bool


def law_rows(footer: dict[str, Any], backends: list[str]) -> list[LawRow]:
    """List the laws, those never tried too; nothing if none was tried at all."""
    found = footer.get("laws", {})
    if not any(found.values()):
        return []
    rows = []
    for law in dict.fromkeys([*LAWS, *(law for counts in found.values() for law in counts)]):
        counts = [found.get(name, {}).get(law, {}) for name in backends]
        numbers = [sum(c.values()) if word == "tried" else int(c.get(word, 0)) for c in counts for word in COLUMNS]
        statement = LAWS[law].statement if law in LAWS else ""
        rows.append(LawRow(law, statement, numbers, any(c.get("broken") for c in counts)))
    return rows
