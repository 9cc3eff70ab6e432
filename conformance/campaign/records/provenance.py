"""Provenance: what a verdict depends on besides the case, which is the suite, the Python and the engines.

Runs, or machines, that differ in one of these facts cannot be one run.
"""

from __future__ import annotations

import hashlib
import platform
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

import conformance
import reference_impl
from conformance.deviations.entries import known

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from conformance.campaign.records import BackendRecord


def environment() -> dict[str, str]:
    """Describe this process, as the header of a record does."""
    return {"python": sys.version.split()[0], "platform": platform.platform(), "numpy": np.__version__}


def of_backends(backends: Iterable[BackendRecord]) -> dict[str, str]:
    """Return the facts of backends, by what a message calls them."""
    facts = {}
    for backend in backends:
        facts[f"backend {backend.name}"] = f"{backend.version} ({backend.dialect})"
        facts[f"conventions of {backend.name}"] = backend.conventions
        facts |= {f"{backend.name}'s {what}": why for what, why in backend.not_offered.items()}
    return facts


def of_machine(backends: Iterable[BackendRecord]) -> dict[str, str]:
    """Return what two machines must have in common to work on one run: these backends as they are here, and all that judges them."""
    backends = tuple(backends)
    here = environment()
    del here["platform"]
    cpus = {f"vector instructions of {backend.name}": backend.cpu for backend in backends}
    return {"suite": conformance.__version__, **here, **of_backends(backends), **cpus, "sources of the suite": _sources()}


def difference(expected: Mapping[str, object], here: Mapping[str, object]) -> tuple[str, object, object] | None:
    """Return the first fact that differs: its name, and both sides; ``None`` stands for one that is not there."""
    for name in {**expected, **here}:
        if expected.get(name) != here.get(name):
            return name, expected.get(name), here.get(name)
    return None


@cache
def _sources() -> str:
    """Digest the modules with their data, and the known deviations: between two releases a version says little."""
    digest = hashlib.sha256(msgspec.json.encode(known()))
    for root in (Path(module).parent for module in (conformance.__file__, reference_impl.__file__)):
        for path in sorted([*root.rglob("*.py"), *root.rglob("*.toml")]):
            digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:8]
