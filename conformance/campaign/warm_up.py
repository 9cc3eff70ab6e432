"""The warm-up: what a worker does once, so that none of its children has to.

At first use frameworks import modules (torch half a second's worth at the first batched gradient), the catalogue of ops and the known
deviations are read, and caches fill. A child that is forked later finds all that done.
"""

from __future__ import annotations

import gc
import os
import signal
from contextlib import suppress

from conformance.backends import BackendError
from conformance.campaign.last_words import silence
from conformance.campaign.nursery import DeathError, die_with, forked
from conformance.campaign.worker import backend, run_case
from conformance.case.case import Case, Input
from conformance.case.steps import Backward, Custom, Grad, Op
from conformance.deviations.entries import known
from conformance.laws.judging import Judging, LawSampling

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
            Backward(("y",)),
            Backward(("x",), ("x",)),
            Backward(("x",), ("x",)),
        ),
        "exact",
    ),
)
"""Batched seeds, a second derivative, a custom function and a refusal (a vector without a seed), in both lanes."""


def prepare(backends: tuple[str, ...]) -> None:
    """Make a nursery of this worker; one that its warm-up would take down stays cold, and is warned by a child.

    It holds nothing that is worth tidying up, so it ends when it is told to, whatever it does, and with the process that forked it.
    """
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    die_with(os.getppid())
    silence()
    with suppress(DeathError, BackendError):
        forked(warm_up, [backends], PATIENCE)
        warm_up(backends)
    gc.collect()
    gc.freeze()  # no child's collector touches, and so copies, what is shared


def warm_up(backends: tuple[str, ...]) -> None:
    """Read the known deviations, and run the warm-up cases on these backends."""
    known()
    opened = [backend(name) for name in backends]
    for case in CASES:
        run_case(case, opened, Judging(LawSampling.EVERY, every_null=True))


PATIENCE = 60.0
"""Seconds that the warm-up of a worker may take."""
