"""The backends that this process has opened, each once, and what is known of them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

from conformance.backends import Backend, BackendError, open_backend
from conformance.campaign.records import BackendRecord
from conformance.campaign.records.choices import release_of
from conformance.campaign.workers.nursery import DeathError
from conformance.ops import catalogue
from conformance.ops.orders import highest_order

if TYPE_CHECKING:
    from collections.abc import Iterator

_opened: dict[str, Backend] = {}


def backend(name: str) -> Backend:
    """Open a backend once per process."""
    if name not in _opened:
        _opened[name] = open_backend(name)
    return _opened[name]


@contextmanager
def servers_restarted() -> Iterator[None]:
    """Where a child of this process dies, open anew what it talked to.

    That may be damaged, or busy for ever, or have an answer ready which the next one would take for its own.
    """
    try:
        yield
    except DeathError:
        _restart_servers()
        raise


def _restart_servers() -> None:
    """Open anew what lives in a process of its own."""
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
    orders = {op: highest_order(op, info.dialect) for op in catalogue() if f"op:{op}" not in info.not_offered}
    return BackendRecord(
        *(info.name, info.version, info.dialect.name, dict(info.not_offered), info.cpu, info.title, info.repeatable, release, orders)
    )
