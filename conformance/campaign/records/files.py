"""Files of records: the writer that appends them, and the reader that refuses what is none.

A process may die at any byte that it writes, and a disk may be full at any. So a line counts once its end is there, a writer that goes
on with a file cuts off what has none, and what workers left beside the record of a run that was killed is read as a part of it.
"""

from __future__ import annotations

import shutil
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple, Self, TypeVar

import msgspec

from conformance.campaign.records import SCHEMA, CaseRecord, Footer, Header, Record, RecordError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

WORK = ".work-"
"""How the names of folders begin in which workers of a run record."""

T = TypeVar("T", bound=msgspec.Struct)


class _Opening(msgspec.Struct):
    """What the first line of every schema says."""

    kind: str = ""
    schema: int = SCHEMA


class _Line(msgspec.Struct):
    """What of a record says where it belongs."""

    kind: str
    index: int = -1


class Extent(NamedTuple):
    """What a file of records has: the indices of its cases, and how many bytes of whole lines."""

    cases: set[int]
    size: int


_any_record: msgspec.json.Decoder[Record] = msgspec.json.Decoder(Record)
_case_record = msgspec.json.Decoder(CaseRecord)
_opening = msgspec.json.Decoder(_Opening)
_line = msgspec.json.Decoder(_Line)


class Writer:
    """Appends records to a file; each line is on its way to the disk when `write` returns. A context manager.

    ``keep``: how many bytes of the file stay.
    """

    def __init__(self, path: Path, keep: int = 0) -> None:
        self.path = path
        self._file = path.open("ab", buffering=0)
        self._file.truncate(keep)
        self._size = keep
        self._encode = msgspec.json.Encoder().encode

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(self, record: msgspec.Struct) -> None:
        """Append one record, or nothing of it.

        Raises:
            OSError: if there is no room for it.
        """
        line = left = self._encode(record) + b"\n"
        try:
            while left:
                left = left[self._file.write(left) :]
        except OSError as error:
            self._file.truncate(self._size)
            raise OSError(error.errno, error.strerror, str(self.path)) from None
        self._size += len(line)


def read(path: Path) -> Iterator[Record]:
    """Yield the records of a run; if it was killed, those too that its workers left beside it.

    Raises:
        RecordError: if the file cannot be read, a line is no record of this schema, or the first is no header.
    """
    cases = set()
    last: Record | None = None
    for record in read_as(path, _any_record):
        if last is None and not isinstance(record, Header):
            raise RecordError(f"{path}: line 1: is no header, with which the record of a run begins")
        last = record
        if isinstance(last, CaseRecord):
            cases.add(last.index)
        yield last
    if last is None:
        raise RecordError(f"{path}: is empty; the record of a run begins with its header")
    if not isinstance(last, Footer):
        yield from _left_beside(path, cases)


def read_as(path: Path, decoder: msgspec.json.Decoder[T]) -> Iterator[T]:
    """Yield the lines of a file of records, each as what a decoder makes of it; but not a last one that somebody died writing.

    Raises:
        RecordError: if the file cannot be read, or a line is none of these records.
    """
    for number, line in enumerate(_lines(path), 1):
        try:
            if number == 1:
                _check_schema(line)
            yield decoder.decode(line)
        except (msgspec.DecodeError, RecordError) as error:
            if number > 1 and not line.endswith(b"\n"):
                return
            raise RecordError(f"{path}: line {number}: {error}") from None


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            yield from file
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


def last_index(path: Path) -> int | None:
    """Return the index of the last case that a worker recorded so far, without reading the others; ``None`` if there is none."""
    written = path.read_bytes() if path.exists() else b""
    end = written.rfind(b"\n")
    return None if end < 0 else _line.decode(written[written.rfind(b"\n", 0, end) + 1 : end]).index


def extent(path: Path, end: Collection[str] = ()) -> Extent:
    """Measure a file of records: which cases it has, and how many bytes of whole lines. A file that is not there is empty.

    ``end``: the kinds of records before the first of which to stop.
    """
    cases, size = set(), 0
    if path.exists():
        with path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                found = _line.decode(line)
                if found.kind in end:
                    break
                if found.kind == "case":
                    cases.add(found.index)
                size += len(line)
    return Extent(cases, size)


def take_in(path: Path, end: Collection[str] = ()) -> Extent:
    """Append to the record of a run what its workers left beside it, and remove that; return what the record has then.

    ``end``: the kinds of records that are cut off before, from the first one on.

    Raises:
        OSError: if there is no room for it; then everything stays where it is.
    """
    cases, size = extent(path, end)
    with Writer(path, size) as writer:
        for record in _left_beside(path, cases):
            writer.write(record)
    clear_work(path.parent)
    return extent(path)


def clear_work(folder: Path) -> None:
    """Remove what workers of earlier runs left in a folder."""
    for left in folder.glob(f"{WORK}*"):
        shutil.rmtree(left)


def _left_beside(path: Path, known: Collection[int]) -> Iterator[CaseRecord]:
    """Yield what workers recorded of other cases than these."""
    found = [record for file in path.parent.glob(f"{WORK}*/*.ndjson") for record in read_chunk(file)]
    for record in sorted(found, key=lambda record: record.index):
        if record.index not in known:
            yield record


def hits(path: Path) -> dict[str, int]:
    """Return how many cases of a run showed each known deviation, over all backends.

    Raises:
        RecordError: if the run has no footer, so that it is no result.
    """
    footer = next((record for record in read(path) if isinstance(record, Footer)), None)
    if footer is None:
        raise RecordError(f"{path}: has no footer: the run did not end")
    return dict(sum((Counter(entries) for entries in footer.deviations.values()), Counter()))
