"""Which share of what models use the catalogue has: whether it is about what people differentiate, or about what is easy.

``usage.csv`` is copied from the table of the op universe, ``ops.csv`` of the specification, which groups its ops under base ops: rank
by use, family (of the row that is called like its base op, else of its first one), and the shares of the public language models and of
the vision models that use it, in thousandths. It does not say how often a model calls an op. So what is counted are *uses*: pairs of a
model and a base op that it uses. The sum of the shares of all base ops is the mean number of them that a model uses.
"""

from __future__ import annotations

import csv
import functools
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from conformance.ops import catalogue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

FILE = Path(__file__).with_name("usage.csv")
Models: TypeAlias = Literal["nlp", "vision"]
MODELS: tuple[Models, ...] = ("nlp", "vision")
FIRST_RANKS = (100, 200)
THOUSAND = 1000


@dataclass(frozen=True, slots=True)
class BaseOp:
    """A base op of the op universe; ``used``: by how many models in a thousand, of each kind."""

    name: str
    rank: int
    family: str
    used: dict[Models, int]


@dataclass(frozen=True, slots=True)
class Count:
    """How many there are in the catalogue, of how many."""

    there: int
    of: int

    @property
    def share(self) -> float:
        """The share, 1 of nothing."""
        return self.there / self.of if self.of else 1.0


@dataclass(frozen=True, slots=True)
class Coverage:
    """What a catalogue has of the op universe.

    ``uses``: in thousandths of a use per model; ``missing``: the base ops that are not there, by rank; ``beyond``: base ops of the
    catalogue that the universe does not have, which count nowhere.
    """

    uses: dict[Models, Count]
    base_ops: Count
    first: dict[int, Count]
    families: dict[str, Count]
    missing: tuple[BaseOp, ...]
    beyond: tuple[str, ...]


@functools.cache
def universe() -> tuple[BaseOp, ...]:
    """Return all base ops, by rank."""
    with FILE.open(newline="") as lines:
        return tuple(
            BaseOp(row["base_op"], int(row["rank"]), row["family"], {m: _thousandths(row[f"share_of_{m}_models"]) for m in MODELS})
            for row in csv.DictReader(lines)
        )


def _thousandths(share: str) -> int:
    return round(THOUSAND * float(share))


def catalogued() -> frozenset[str]:
    """Return the base ops of which the catalogue has at least one op."""
    return frozenset(entry.base_op for entry in catalogue().values())


def coverage(there: frozenset[str]) -> Coverage:
    """Count what base ops cover of the universe."""
    everything = universe()

    def count(among: Iterable[BaseOp], weight: Callable[[BaseOp], int] = lambda _: 1) -> Count:
        weights = [(weight(op), op.name in there) for op in among]
        return Count(sum(n for n, here in weights if here), sum(n for n, _ in weights))

    return Coverage(
        {models: count(everything, lambda op, models=models: op.used[models]) for models in MODELS},  # type: ignore[misc]
        count(everything),
        {rank: count(op for op in everything if op.rank <= rank) for rank in FIRST_RANKS},
        {
            name: count(op for op in everything if op.family == name)
            for name, _ in Counter(op.family for op in everything).most_common()
        },
        tuple(op for op in everything if op.name not in there),
        tuple(sorted(there - {op.name for op in everything})),
    )
