"""Backends: engines behind one protocol.

A backend runs a case and says what it observed. It never sees an expected value, never compares, and never raises for what the
engine did. Every framework has a folder here, of one shape: its registration (``__init__``), its ``engine``, which alone imports the
framework, its ``errors``, its ``script`` printer, and its ``calls`` where they are not those of the catalogue.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from conformance.backends.registry import BackendError, Registration, load, names, registration

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from conformance.case.case import Case
    from conformance.case.outcome import Outcome
    from reference_impl import Dialect

__all__ = ["Backend", "BackendError", "BackendInfo", "Registration", "names", "open_backend"]


@dataclass(frozen=True, slots=True)
class BackendInfo:
    """A backend's facts: which engine it is, which dialect it claims to speak, and what it does not offer.

    ``not_offered`` maps a parameter (as in `conformance.case.steps.parameters`) or ``op:NAME`` to the reason. ``cpu``: which vector
    instructions its kernels use here, in its own words, such as ``AVX2``; numbers may depend on it. Empty where it does not say.
    """

    name: str
    version: str
    dialect: Dialect
    not_offered: Mapping[str, str] = field(default_factory=dict)
    cpu: str = ""

    def refusal(self, needs: Iterable[str]) -> str | None:
        """Return why a step that ``needs`` these (`conformance.case.steps.parameters`) is not offered, or ``None``."""
        for parameter in needs:
            if parameter in self.not_offered:
                return self.not_offered[parameter]
        return None


class Backend(Protocol):
    """Runs cases on one autograd engine.

    What an adapter must keep is more than types can say: `conformance.backends.contract.check` tries it and says what is broken.
    """

    info: BackendInfo

    def run(self, case: Case) -> Outcome:
        """Run every step and observe it. Inputs are copied in, observations are copied out."""
        ...


def open_backend(name: str) -> Backend:
    """Open a backend by its name, its module, or ``module:attribute`` (a callable without arguments).

    Raises:
        BackendError: if it is unknown or its framework is missing.
    """
    facts = registration(name)
    try:
        opened: Backend = load(facts.opens)()
    except (ImportError, AttributeError) as error:
        msg = f"backend {name!r} cannot be opened: {error}; install its framework (pip install 'autograd-conformance[all]')"
        raise BackendError(msg) from None
    if opened.info.name != name:  # the ledger and the findings call it what the user called it
        opened.info = replace(opened.info, name=name)
    return opened
