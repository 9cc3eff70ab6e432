"""The examination: whether a canary that died is a sign of damage, or dies where nothing was refused as well.

A wrong rule kills the canary of its op after any refusal, just as damage does. Which of the two it is can be told by a process in which
nothing was refused. To ask all ops before every run takes a second per backend, for an answer that hardly any run needs. So it is
asked when it matters: the child in which a canary died says whom it suspects and ends, its worker, in which nothing is ever refused,
has that one op examined by another child, and the case is run again by one that knows the result.
"""

from __future__ import annotations

import mmap
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from conformance.campaign.workers.backend_cache import backend, servers_restarted
from conformance.campaign.workers.last_words import die_at_once
from conformance.campaign.workers.nursery import DeathError, forked
from conformance.campaign.workers.single_flight import once_for_all
from conformance.campaign.workers.watchdog import set_alarm
from conformance.judge.canary import EVERY, ailment_after, is_ill, ops_of, trust, well

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from conformance.backends import Backend
    from conformance.case.case import Case
    from conformance.case.outcome import Outcome
    from conformance.judge.canary import Ailment

T = TypeVar("T")

PATIENCE = 2.0
"""Seconds of computing after which a canary hangs; one takes some hundredths of a second at worst."""
EXAMINERS = 6
"""How many examiners an engine may kill before the death of any of its canaries counts as no sign of damage, without a further one."""
SLATE_BYTES = 1024

_examined: dict[str, dict[str, bool]] = {}
"""By backend and op: whether the canary dies where nothing was refused."""
_killed: dict[str, int] = {}
"""By backend: how many examiners it killed."""
_slate: mmap.mmap | None = None
"""What a child says of the canary that is under way, in memory that its worker shares; ``None`` where nobody can be asked."""


class Suspicion(BaseException):
    """A canary died, and it is not known yet whether it also dies where nothing was refused."""

    def __init__(self, name: str, op: str) -> None:
        super().__init__(name, op)
        self.name = name
        self.op = op


def begin() -> None:
    """Let the children of this process suspect: it has refused nothing, and will not."""
    global _slate  # noqa: PLW0603 - a process has one
    _slate = mmap.mmap(-1, SLATE_BYTES)


def ailment_in(case: Case, actual: Outcome, engine: Backend, family: str) -> Ailment | None:
    """Return what a canary died of after a case in which something was refused; see `conformance.judge.canary.ailment_after`.

    Raises:
        Suspicion: if it is not known yet whether that canary would have died anyway.
    """
    name = engine.info.name
    known = _examined.get(name, {})
    found = ailment_after(case, actual, engine, family, lambda op: known.get(op, False), entering=lambda op: _note(name, op))
    if found is not None and found.op not in known and _slate is not None:
        raise Suspicion(name, found.op)  # what is noted stays, since a damaged process may die before anybody hears of this
    _note()
    return found


def settled(function: Callable[[], T]) -> T:
    """Call a function that has children of this process do something, until they have no suspicion left."""
    while True:
        forget()
        try:
            return function()
        except (Suspicion, DeathError) as ended:
            if not resolved(ended):
                raise


def resolved(ended: Suspicion | DeathError) -> bool:
    """Have examined what a child ended with; return whether what it did is to be done again, by one that knows the result."""
    if isinstance(ended, Suspicion):
        examine(ended)
        return True
    suspected = _noted()
    return suspected is not None and examine(suspected)


def _noted() -> Suspicion | None:
    """Return what a child that died had under way, if it was a canary that was not examined."""
    if _slate is None:
        return None
    name, _, op = _slate[:].rstrip(b"\0").decode().partition(" ")
    return Suspicion(name, op) if op and op not in _examined.get(name, {}) else None


def examine(suspicion: Suspicion) -> bool:
    """Find out in a child whether a canary dies on a backend that refused nothing, and remember it."""
    name, op = suspicion.name, suspicion.op
    known = _examined.setdefault(name, {})
    if op not in known:
        known[op] = True
        if _killed.get(name, 0) < EXAMINERS:
            try:
                with servers_restarted():
                    known[op] = forked(_is_ill, [op, name])
            except DeathError:
                _killed[name] = _killed.get(name, 0) + 1
    return known[op]


def examine_all(names: Sequence[str], folder: Path) -> list[str]:
    """Have all canaries of backends asked, once for all workers that share a folder.

    Returns those backends of which a child came through; else each canary is asked when it matters.
    """
    found = once_for_all(names, folder, _examine_all)
    for name, (known, answers) in found.items():
        _examined.setdefault(name, {}).update(known)
        trust(answers or {})
    return [name for name in names if found[name].answers is not None]


class Examined(NamedTuple):
    """What was found of all canaries of a backend: which are ill, and what the others answer; ``None`` if no child came through."""

    ill: dict[str, bool]
    answers: dict[tuple[str, ...], Any] | None


def _examine_all(name: str) -> Examined:
    """Have all canaries of a backend asked by a child; an op whose canary takes it along is ill, and the next child asks the others."""
    known = _examined.setdefault(name, {})
    while _killed.get(name, 0) < EXAMINERS:
        forget()
        try:
            with servers_restarted():
                found, answers = forked(_all_examined, [name, [op for op in ops_of(EVERY) if not known.get(op)]])
        except DeathError:
            _killed[name] = _killed.get(name, 0) + 1
            if (lost := _noted()) is None:
                break
            known[lost.op] = True
        else:
            return Examined({**known, **found}, answers)
    return Examined(known, None)


def ask_again(name: str) -> None:
    """Run all canaries of a backend that are well in this process, which then has in place what it sets up at first use of an op."""
    for op in ops_of(EVERY):
        if not _examined[name][op]:
            is_ill(op, backend(name))


def _all_examined(name: str, ops: list[str]) -> tuple[dict[str, bool], dict[tuple[str, ...], Any]]:
    return {op: _is_ill(op, name) for op in ops}, well()


def _is_ill(op: str, name: str) -> bool:
    die_at_once()
    _note(name, op)
    set_alarm(PATIENCE)
    return is_ill(op, backend(name))


def forget() -> None:
    """Wipe the slate before a child begins."""
    _note()


def _note(*words: str) -> None:
    if _slate is not None:
        _slate[:] = " ".join(words).encode().ljust(SLATE_BYTES, b"\0")[:SLATE_BYTES]
