"""The backends that this process has opened, each once, and what is known of them."""

from __future__ import annotations

import msgspec

from conformance.backends import Backend, BackendError, open_backend
from conformance.campaign.lock_file import release_of
from conformance.campaign.records import BackendRecord

_opened: dict[str, Backend] = {}


def backend(name: str) -> Backend:
    """Open a backend once per process."""
    if name not in _opened:
        _opened[name] = open_backend(name)
    return _opened[name]


_ill: dict[str, frozenset[str]] = {}


def spare(name: str, ops: frozenset[str]) -> None:
    """Remember the ops that a backend differentiates wrongly where nothing was refused: they are no sign of damage."""
    _ill[name] = ops


def spared(name: str) -> frozenset[str]:
    """Return the ops that are no sign of damage, as far as they are known here."""
    return _ill.get(name, frozenset())


def restart_servers() -> None:
    """Open anew what lives in a process of its own, which a child of this one may have left damaged or busy."""
    for name, engine in list(_opened.items()):
        if close := getattr(engine, "close", None):
            close()
            del _opened[name]
            backend(name)


class Unopened(msgspec.Struct, frozen=True):
    """A backend that cannot be opened here, and why."""

    error: str


def describe_backend(name: str) -> BackendRecord | Unopened:
    """Open a backend and write down its facts, or why it cannot be opened."""
    try:
        info = backend(name).info
    except BackendError as error:
        return Unopened(str(error))
    release = release_of(info.dialect.conventions)
    return BackendRecord(
        *(info.name, info.version, info.dialect.name, dict(info.not_offered), info.cpu, info.title, info.repeatable, release)
    )
