"""Open choices as text: in records, and in the files that `reference_impl.dialects.conventions.read` reads."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from reference_impl.dialects.conventions import OPTIONS, Kind, OpenChoice

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from reference_impl.dialects.conventions import Conventions, Lock


def release_of(conventions: Conventions) -> str:
    """Name what was measured: the release, and a digest of the options, by which two runs know that they start from the same."""
    told = sorted(f"{choice} {option} {conventions.varying.get(choice, '')}" for choice, option in conventions.options.items())
    digest = hashlib.blake2b("\n".join(told).encode(), digest_size=4).hexdigest()
    return f"{' '.join(conventions.release)} {digest}".strip()


def choice_of(text: str) -> OpenChoice:
    """Return the choice of which this is the text."""
    kind, _, rest = text.partition(": ")
    op, _, about = rest.partition(" ")
    return OpenChoice(Kind(kind), op, about)


def text_of(lock: Lock) -> str:
    """Write a file of conventions; `read` reads it again."""
    backend, version, seen = lock
    lines = [
        f"# What {backend} {version} does where no document says what is right, with the number of observations.",
        f"# Measured and written by: conformance learn --backend {backend}",
        f'backend = "{backend}"',
        f'version = "{version}"',
    ]
    for kind in Kind:
        for option in OPTIONS[kind]:
            of_option = sorted((c.op, c.about, o[option]) for c, o in seen.items() if c.kind is kind and option in o)
            lines += ["", f"[{kind}.{option}]"] if of_option else []
            lines += _quoted(of_option)
    return "\n".join(lines) + "\n"


def _quoted(entries: Iterable[tuple[str, str, int]]) -> Iterator[str]:
    return (f'"{op} {about}" = {count}' if about else f'"{op}" = {count}' for op, about, count in entries)
