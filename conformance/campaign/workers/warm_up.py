"""The warm-up: what a worker does once, so that none of its children has to.

At first use frameworks import modules (torch half a second's worth at the first batched gradient), the catalogue of ops and the known
deviations are read, and caches fill. A child that is forked later finds all that done.
"""

from __future__ import annotations

import gc
import os
import signal
from collections import Counter
from contextlib import suppress
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.backends.registry import BackendError, registration
from conformance.campaign.workers import huge_pages
from conformance.campaign.workers.backend_cache import backend
from conformance.campaign.workers.examination import ask_again, begin, examine_all
from conformance.campaign.workers.last_words import silence
from conformance.campaign.workers.nursery import die_with, forked
from conformance.campaign.workers.trial import run_case
from conformance.case.case import Case, Input
from conformance.case.steps import Backward, Custom, Grad, Op
from conformance.deviations.entries import about, known
from conformance.laws.judging import Judging, Sampling

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

MANY = 150
"""Cases of a backend after which it is worth a worker's while to be warmed up further for it, see `prepare_for`."""
AS_MANY = 4
"""So many times as many it takes where the backend cannot be forked when it has run: each child is the first to use it all the same."""

_forkable: set[str] = set()
_met: Counter[str] = Counter()
"""How many cases of each backend this worker has had under way."""
_prepared: set[str] = set()
"""The backends for which this worker was warmed up further."""


def prepare_server(backends: tuple[str, ...]) -> None:
    """Warm up the process from which workers are forked, for those backends that can be forked when they have run.

    Nothing that is made here goes away, so the collector, which would walk through it again and again, is off meanwhile. And all that
    is forked from here, children of children included, is forked with it.
    """
    silence()
    gc.disable()
    _import(backends)
    _warm_up_forkable(set(filter(_can_be_forked, backends)))
    huge_pages.gather()


def prepare(backends: tuple[str, ...]) -> None:
    """Make a nursery of this worker: open the backends, and warm up those that can be forked when they have run.

    One that starts threads cannot be: a child has none of them, and waits for them or dies. It is opened only. A nursery holds nothing
    that is worth tidying up, so it ends when it is told to, whatever it does, and with the process that forked it.
    """
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    die_with(os.getppid())
    silence()
    _import(backends)
    if fit := {name for name in backends if name not in _forkable and _can_be_forked(name)}:
        _warm_up_forkable(fit)
    for name in backends:
        with suppress(Exception):  # who runs it says what is wrong
            backend(name)
    begin()


def prepare_for(cases: int, backends: Sequence[str], folder: Path, ahead: int | None = None) -> None:
    """Do what costs a worker seconds and saves it more than that, for each backend that has many cases.

    So many it has with those ``ahead``; where nobody knows these, it is taken to have as many as it had already. Each of its children,
    many of which die, would find out again which canaries are well, and would be the first to use most of the ops. So a child asks all
    canaries, once for all workers that share a ``folder``, and what has come through that is done by the worker itself. It runs nothing
    else, and a canary refuses nothing that could damage it.
    """
    _met.update(dict.fromkeys(backends, cases))
    many = {name: MANY if name in _forkable else AS_MANY * MANY for name in backends}
    todo = [name for name in backends if name not in _prepared and (_met[name] if ahead is None else cases + ahead) > many[name]]
    _prepared.update(todo)
    fit = [name for name in examine_all(todo, folder) if name in _forkable]
    for name in fit:
        ask_again(name)
    if fit:
        _freeze()
        huge_pages.gather()


def _import(backends: Sequence[str]) -> None:
    """Import what opens these backends; what is not imported here is imported by every child."""
    for name in backends:
        with suppress(Exception):  # who runs it says what is wrong
            import_module(registration(name).opens.partition(":")[0])


def _warm_up_forkable(backends: set[str]) -> None:
    _forkable.update(backends)
    with suppress(Exception):
        warm_up(sorted(backends))
    _freeze()
    gc.enable()


def _freeze() -> None:
    gc.collect()
    gc.freeze()  # no child's collector touches, and so copies, what is shared


def warm_up(backends: Sequence[str]) -> None:
    """Read the known deviations, and run the warm-up cases on these backends."""
    kinds = {kind for entry in known() for kind in entry.kinds}
    opened = [backend(name) for name in backends]
    for engine, kind in product(opened, kinds):
        about(engine.info, kind)
    for case in CASES if opened else ():
        run_case(case, opened, Judging(Sampling.EVERY, nulls=Sampling.EVERY))


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
PATIENCE = 60.0
"""Seconds that the warm-up of a backend may take."""
