"""Single flight: what one worker of a run finds out, no other has to find out again.

The workers of a run share a folder, and that is all they share. So a worker that finds something out locks a file meanwhile, and then
writes down what it found. Another worker that wants to know the same waits for the lock. But first it sees to what nobody is finding
out just now, so that two workers that want to know of two backends need half the time. A lock ends with its process, and then the next
one finds out.
"""

from __future__ import annotations

import fcntl
import pickle
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


def once_for_all(names: Sequence[str], folder: Path, find: Callable[[str], Any]) -> dict[str, Any]:
    """Return for each name what was found of it, by this process or by another one that has the same folder."""
    found: dict[str, Any] = {}
    for waiting in (fcntl.LOCK_NB, 0):
        for name in names:
            if name not in found:
                with suppress(BlockingIOError):
                    found[name] = _found(folder / quote(name, safe=""), waiting, partial(find, name))
    return found


def _found(path: Path, waiting: int, find: Callable[[], Any]) -> Any:
    written = path.with_name(f"{path.name}.found")
    with path.with_name(f"{path.name}.lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | waiting)
        if written.exists():
            return pickle.loads(written.read_bytes())  # noqa: S301 - written below, by a worker of this run
        found = find()
        with suppress(OSError):  # a full disk: then each finds out by itself
            part = path.with_name(f"{path.name}.part")
            part.write_bytes(pickle.dumps(found))
            part.replace(written)
        return found
