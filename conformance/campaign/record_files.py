"""Files of records: the writer that appends them, and the reader that refuses what is none."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Self, TypeVar

import msgspec

from conformance.campaign.records import SCHEMA, CaseRecord, Footer, Header, Record, RecordError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

T = TypeVar("T", bound=msgspec.Struct)


class _Opening(msgspec.Struct):
    """What the first line of every schema says."""

    kind: str = ""
    schema: int = SCHEMA


_any_record: msgspec.json.Decoder[Record] = msgspec.json.Decoder(Record)
_case_record = msgspec.json.Decoder(CaseRecord)
_opening = msgspec.json.Decoder(_Opening)


class Writer:
    """Appends records to a file; each line is on its way to the disk when `write` returns. A context manager."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("wb", buffering=0)
        self._encode = msgspec.json.Encoder().encode

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(self, record: msgspec.Struct) -> None:
        """Append one record."""
        self._file.write(self._encode(record) + b"\n")


def read(path: Path) -> Iterator[Record]:
    """Yield the records of a run.

    Raises:
        RecordError: if the file cannot be read, a line is no record of this schema, or the first is no header.
    """
    first: Record | None = None
    for record in read_as(path, _any_record):
        first = first or record
        if not isinstance(first, Header):
            raise RecordError(f"{path}: line 1: is no header, with which the record of a run begins")
        yield record
    if first is None:
        raise RecordError(f"{path}: is empty; the record of a run begins with its header")


def read_as(path: Path, decoder: msgspec.json.Decoder[T]) -> Iterator[T]:
    """Yield the lines of a file of records, each as what a decoder makes of it.

    Raises:
        RecordError: if the file cannot be read, or a line is none of these records.
    """
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    if number == 1:
                        _check_schema(line)
                    yield decoder.decode(line)
                except (msgspec.DecodeError, RecordError) as error:
                    raise RecordError(f"{path}: line {number}: {error}") from None
    except OSError as error:
        raise RecordError(f"{path}: {error.strerror}") from None


def _check_schema(line: bytes) -> None:
    opening = _opening.decode(line)
    if opening.kind == "header" and opening.schema != SCHEMA:
        raise RecordError(f"written in schema {opening.schema} of the records, and this version reads schema {SCHEMA}")


def read_chunk(path: Path) -> list[CaseRecord]:
    """Read what a worker recorded so far; a line that it did not finish is left out."""
    if not path.exists():
        return []
    return [_case_record.decode(line) for line in path.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]


def hits(path: Path) -> dict[str, int]:
    """Return how many cases of a run showed each known deviation, over all backends.

    Raises:
        RecordError: if the run has no footer, so that it is no result.
    """
    footer = next((record for record in read(path) if isinstance(record, Footer)), None)
    if footer is None:
        raise RecordError(f"{path}: has no footer: the run did not end")
    return dict(sum((Counter(entries) for entries in footer.deviations.values()), Counter()))
