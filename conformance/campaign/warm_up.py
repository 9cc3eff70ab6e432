"""The warm-up: what a worker does once, so that none of its children has to.

At first use frameworks import modules (torch half a second's worth at the first batched gradient), the catalogue of ops and the known
deviations are read, and caches fill. A child that is forked later finds all that done.
"""

from __future__ import annotations

import gc
import mmap
import os
import signal
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.backends.registry import BackendError, registration
from conformance.campaign.last_words import silence
from conformance.campaign.nursery import DeathError, die_with, forked
from conformance.campaign.opened import backend, servers_restarted, spare
from conformance.campaign.worker import run_case
from conformance.case.case import Case, Input
from conformance.case.steps import Backward, Custom, Grad, Op
from conformance.deviations.entries import known
from conformance.judge.canary import EVERY, canary_of, is_ill, ops_of, trust, well
from conformance.laws.judging import Judging, LawSampling

if TYPE_CHECKING:
    from collections.abc import Sequence

CASES = (
    Case(
        (Input("x", (2,), (0.5, 1.5)), Input("seeds", (2, 2), (1.0, 0.0, 0.0, 1.0), differentiable=False)),
        (
            Op("exp", ("x",), ("y",)),
            Grad(("y",), ("x",), ("g",), ("seeds",), is_grads_batched=True, retain_graph=True),
            Grad(("y",), ("x",), ("h",), ("x",), create_graph=True),
            Op("sum", ("h",), ("s",), {"axis": None, "keepdims": False}),
            Backward(("s",), retain_graph=True),
        ),
    ),
    Case(
        (Input("x", (2,), (1.0, 2.0)),),
        (
            Custom(("x",), ("y",), (Op("mul", ("x", "x"), ("z",)),), ("z",), ("c",), ("c",)),
            Backward(("y",), ("x",)),
        ),
        "exact",
    ),
)
"""Batched seeds, a second derivative and a custom function, in both lanes; nothing that is refused, which could damage an engine."""


VARIABLE = "CONFORMANCE_WARM_UP"
"""In the environment: the backends that the server process warms up, with commas between them, beside those of the first pool."""

_forkable: set[str] = set()
_examined: set[str] = set()


def prepare_server(backends: tuple[str, ...]) -> None:
    """Warm up the process from which workers are forked, for those backends that can be forked when they have run.

    Nothing that is made here goes away, so the collector, which would walk through it again and again, is off meanwhile.
    """
    silence()
    gc.disable()
    _import(backends)
    _forkable.update(filter(_can_be_forked, backends))
    _warm_up_forkable()


def prepare(backends: tuple[str, ...]) -> None:
    """Make a nursery of this worker: open the backends, and warm up those that can be forked when they have run.

    One that starts threads cannot be: a child has none of them, and waits for them or dies. It is opened only. A nursery holds nothing
    that is worth tidying up, so it ends when it is told to, whatever it does, and with the process that forked it.
    """
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    die_with(os.getppid())
    silence()
    _import(backends)
    fit = {name for name in backends if name in _forkable or _can_be_forked(name)}
    if not fit <= _forkable:
        _forkable.update(fit)
        _warm_up_forkable()
    for name in backends:
        with suppress(Exception):  # who runs it says what is wrong
            backend(name)
            _examine(name)


def _examine(name: str) -> None:
    """Find out, in children, which canaries die on a backend that refused nothing, once for all pools where that can be."""
    if name not in _examined:
        _examined.add(name)
        asked = [op for op in ops_of(EVERY) if canary_of(op) is not None]  # made here, so that no child has to
        spare(name, frozenset(_ill_in(asked, name)))


def _ill_in(ops: list[str], name: str) -> list[str]:
    """Return the ops whose canary dies, the one that a process was at when it died or did not come back among them.

    Each process says in memory that it shares how far it came, so the next one goes on behind that, and is ended only where it comes no
    further: how long all take is the machine's affair. Of an engine that takes `EXAMINERS` processes along nothing is asked any more.
    """
    with mmap.mmap(-1, len(ops)) as said:
        for _ in range(EXAMINERS):
            left = [number for number in range(len(ops)) if said[number] == UNASKED]
            with suppress(DeathError), servers_restarted():
                trust(forked(_examined_here, [ops, left, name, said], dying=Standstill(said)))
                break
        return [op for number, op in enumerate(ops) if said[number] != WELL]


class Standstill:
    """That a process comes no further."""

    def __init__(self, said: mmap.mmap) -> None:
        self._said = said
        self._seen = [b""] * LOOKS

    def __call__(self) -> bool:
        """Look, and say whether what it says of its progress is what it was `LOOKS` looks ago."""
        before, *rest = self._seen
        self._seen = [*rest, self._said[:]]
        return before == self._seen[-1]


def _examined_here(ops: list[str], left: list[int], name: str, said: mmap.mmap) -> dict[tuple[str, ...], Any]:
    for number in left:
        said[number] = UNDER_WAY
        said[number] = ILL if is_ill(ops[number], backend(name)) else WELL
    return well()


def _import(backends: Sequence[str]) -> None:
    """Import what opens these backends; what is not imported here is imported by every child."""
    for name in backends:
        with suppress(Exception):  # who runs it says what is wrong
            import_module(registration(name).opens.partition(":")[0])


def _warm_up_forkable() -> None:
    with suppress(Exception):
        warm_up(sorted(_forkable))
        for name in sorted(_forkable):
            _examine(name)
    gc.collect()
    gc.freeze()  # no child's collector touches, and so copies, what is shared
    gc.enable()


def warm_up(backends: Sequence[str]) -> None:
    """Read the known deviations, and run the warm-up cases on these backends."""
    known()
    opened = [backend(name) for name in backends]
    for case in CASES if opened else ():
        run_case(case, opened, Judging(LawSampling.EVERY, every_null=True))


def _can_be_forked(name: str) -> bool:
    with suppress(BackendError):  # who runs it says what is wrong
        if (known_to := registration(name).forks) is not None:
            return known_to
    return _found_forkable(name)


def _found_forkable(name: str) -> bool:
    try:
        return bool(forked(_threads_after_warm_up, [name], PATIENCE) == 1)
    except Exception:  # noqa: BLE001 - who runs it says what is wrong
        return False


def _threads_after_warm_up(name: str) -> int:
    warm_up([name])
    return len(list(TASKS.iterdir())) if TASKS.exists() else 0


TASKS = Path("/proc/self/task")
"""The threads of this process, those of native code included, where the system tells."""
UNASKED, UNDER_WAY, ILL, WELL = range(4)
"""What is known of a canary."""
EXAMINERS = 6
"""How many processes an engine may cost before it is known which ops are no sign of damage."""
LOOKS = 3
"""After how many looks, a second each, a canary hangs; one takes some hundredths of a second at worst."""
PATIENCE = 60.0
"""Seconds that the warm-up of a backend may take."""
