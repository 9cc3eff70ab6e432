"""What a switch of a `Dialect` is in words: the question that a field answers, and the answers for its values."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reference_impl.dialects.conventions import Conventions

if TYPE_CHECKING:
    from reference_impl.dialects.dialect import Dialect


@dataclass(frozen=True, slots=True)
class Switch:
    """One field of `Dialect`.

    Attributes:
        field: its name.
        question: what it decides.
        values: the answer for every value; of a table or set, if it is empty (``False``), and if not (``True``; ``{names}``: those).
        source: who says so: a document, or measurements on torch 2.13.0 and paddle 3.3.1 by the number of their row.
        parameter: without this parameter of the calls the question does not arise.
    """

    field: str
    question: str
    values: Mapping[Any, str]
    source: str
    parameter: str = ""

    def answer(self, dialect: Dialect) -> str:
        """Say what a dialect does."""
        if self.parameter in dialect.not_offered:
            return "does not arise: it has no such parameter"
        value = getattr(dialect, self.field)
        if isinstance(value, Conventions):
            return self.values[bool(value.options)]
        if isinstance(value, Collection) and not isinstance(value, str):
            return self.values[bool(value)].format(names=", ".join(sorted(name.removeprefix("step:") for name in value)))
        return self.values[value]
