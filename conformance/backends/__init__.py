"""Backends: engines behind one protocol.

A backend runs a case and says what it observed. It never sees an expected value, never compares, and never raises for what the
engine did. Frameworks are imported in their adapter alone, when the backend is opened.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field, replace
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from conformance.case import Case
    from conformance.outcome import Outcome
    from reference_impl import Dialect

BUILT_IN = {
    "reference": "conformance.backends.reference:open_backend",
    "torch": "conformance.backends.torch:open_backend",
    "paddle": "conformance.backends.paddle:open_backend",
    "paddle-static": "conformance.backends.paddle_static:open_backend",
    "paddle-static-legacy": "conformance.backends.paddle_static_legacy:open_backend",
}

STATIC = frozenset({"paddle-static", "paddle-static-legacy"})
"""Built-in backends of static programs."""


class BackendError(Exception):
    """A backend that is unknown or cannot be opened; the message says what is allowed."""


@dataclass(frozen=True, slots=True)
class BackendInfo:
    """A backend's facts: which engine it is, which dialect it claims to speak, and what it does not offer.

    ``not_offered`` maps a parameter (as in `conformance.case.parameters`) or ``op:NAME`` to the reason.
    """

    name: str
    version: str
    dialect: Dialect
    not_offered: Mapping[str, str] = field(default_factory=dict)

    def refusal(self, needs: Iterable[str]) -> str | None:
        """Return why a step that ``needs`` these (`conformance.steps.parameters`) is not offered, or ``None``."""
        for parameter in needs:
            if parameter in self.not_offered:
                return self.not_offered[parameter]
        return None


class Backend(Protocol):
    """Runs cases on one autograd engine. See ``tests/test_backend_contract.py`` for what an adapter must keep."""

    info: BackendInfo

    def run(self, case: Case) -> Outcome:
        """Run every step and observe it. Inputs are copied in, observations are copied out."""
        ...


def names() -> dict[str, str]:
    """Return every backend that can be named, with the import string that opens it."""
    installed = {e.name: e.value for e in entry_points(group="autograd_conformance.backends")}
    return {**installed, **BUILT_IN}


def open_backend(name: str) -> Backend:
    """Open a backend by name or as ``module:attribute`` (a callable without arguments).

    Raises:
        BackendError: if it is unknown or its framework is missing.
    """
    known = names()
    target = known.get(name, name if ":" in name else None)
    if target is None:
        msg = f"backend {name!r} is unknown; known are {', '.join(known)}, or give module:attribute"
        raise BackendError(msg)
    module, _, attribute = target.partition(":")
    try:
        opened: Backend = getattr(importlib.import_module(module), attribute)()
    except (ImportError, AttributeError) as error:
        msg = f"backend {name!r} cannot be opened: {error}; install its framework (pip install 'autograd-conformance[all]')"
        raise BackendError(msg) from None
    if opened.info.name != name:  # the ledger and the findings call it what the user called it
        opened.info = replace(opened.info, name=name)
    return opened
