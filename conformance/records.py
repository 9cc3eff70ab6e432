"""Run records: NDJSON with a header, a line per case, the findings, and a footer.

A file without its footer is the record of a run that did not end; it cannot be read as a result.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SCHEMA = 1


class RecordError(ValueError):
    """A run record that cannot be used; the message has the place and the reason."""


class Writer:
    """Appends records to ``run.ndjson``; each line is on its way to the disk when `write` returns."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("wb", buffering=0)
        self._encode = msgspec.json.Encoder().encode

    def write(self, record: Any) -> None:
        """Append one record."""
        self._file.write(self._encode(record) + b"\n")

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def read(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of a run.

    Raises:
        RecordError: if the file cannot be read, or a line is no record.
    """
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    yield msgspec.json.decode(line)
                except msgspec.DecodeError as error:
                    msg = f"{path}: line {number}: {error}"
                    raise RecordError(msg) from None
    except OSError as error:
        msg = f"{path}: {error.strerror}"
        raise RecordError(msg) from None


def hits(path: Path) -> dict[str, int]:
    """Return how many cases of a run showed each known deviation, over all backends.

    Raises:
        RecordError: if the run has no footer, so that it is no result.
    """
    footer = next((record for record in read(path) if record.get("kind") == "footer"), None)
    if footer is None:
        msg = f"{path}: has no footer: the run did not end"
        raise RecordError(msg)
    return dict(sum((Counter(entries) for entries in footer["deviations"].values()), Counter()))
