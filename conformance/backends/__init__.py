"""Backends: engines behind one protocol.

A backend runs a case and says what it observed. It never sees an expected value, never compares, and never raises for what the
engine did. Every framework has a folder here, of one shape: its registration (``__init__``), its ``engine``, which alone imports the
framework, its ``errors``, its ``script`` printer, and its ``calls`` where they are not those of the catalogue.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, get_args

from conformance.backends.registry import BUILT_IN, BackendError, Registration, load, names, registration
from reference_impl import Dialect
from reference_impl.dialects.conventions import FOLDER, conventions, read, release_file

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.case.case import Case, Input
    from conformance.case.outcome import Outcome

__all__ = ["CHOSEN", "Backend", "BackendError", "BackendInfo", "Kinks", "Registration", "Repeatable", "answer", "names", "open_backend"]

Repeatable: TypeAlias = Literal["bitwise", "rounding"]
"""How alike two runs of one script are: to the last bit, or as far as rounding goes, where sums are taken in any order (atomics)."""

Kinks: TypeAlias = Literal["documented", "any"]
"""Which derivative comes where there are several: that which PyTorch and Paddle document, or any, since the engine documents none."""


MEASURED = Path("conventions")
"""Where `conformance learn` leaves what it measured, in the folder in which it is called."""


@dataclass(frozen=True, slots=True)
class BackendInfo:
    """A backend's facts: which engine it is, which dialect it claims to speak, and what it does not offer.

    Attributes:
        not_offered: what a step may need (`conformance.case.needs`: a parameter, ``op:NAME``, ``dtype:complex64`` ...) and does not
            get, with the reason.
        cpu: which vector instructions its kernels use here, in its own words, such as ``AVX2``; numbers may depend on it. Empty where
            it does not say.
        title: what it calls itself, where that is not the ``name`` by which it was opened.
        repeatable: how alike it says that two runs of one script are.
        variant_of: the backend of the framework that this is a device, a compiler or a copy of. What is known of that one, its
            deviations and its conventions, is known of this. An adapter that calls itself by the name of such a backend is a variant of
            it.
        kinks: which subgradient it promises.
        alike: ops that are one call of the engine, each with the first of them (`conformance.backends.calls.Calls.alike`); what is
            wrong with that call is one finding.
    """

    name: str
    version: str
    dialect: Dialect
    not_offered: Mapping[str, str] = field(default_factory=dict)
    cpu: str = ""
    title: str = ""
    repeatable: Repeatable = "bitwise"
    variant_of: str = ""
    kinks: Kinks = "documented"
    alike: Mapping[str, str] = field(default_factory=dict)

    def refusal(self, needs: Iterable[str]) -> str | None:
        """Return why a step that ``needs`` these (`conformance.case.needs`) is not offered, or ``None``."""
        lacking = self.not_offered
        for parameter in needs:
            if parameter in lacking:
                return lacking[parameter]
        return None

    def watched(self, case: Case) -> list[str]:
        """Return the values whose ``.grad`` is asked for, in their order.

        An engine that cannot be asked to retain a ``.grad`` may give one to whatever it likes. So ``""`` stands for a value that only
        steps give one which it does not offer.
        """
        if "step:retain_grad" not in self.not_offered:
            return list(case.watched)
        offered = [self.refusal(needs) is None for needs in case.needs]
        return [name if not steps or any(offered[step] for step in steps) else "" for name, steps in case.givers.items()]

    def taken(self, inputs: Iterable[Input]) -> list[Input]:
        """Return the inputs whose dtypes are offered."""
        return [entry for entry in inputs if f"dtype:{entry.dtype}" not in self.not_offered]


CHOSEN = {"repeatable": get_args(Repeatable), "kinks": get_args(Kinks)}
"""The facts of a `BackendInfo` that are one of a few words."""


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
        BackendError: if it is unknown, its framework is missing, or what opens it gives no backend.
    """
    facts = registration(name)
    hint = f"; install its framework (pip install 'autograd-conformance[{facts.requires}]')" if name in BUILT_IN else ""
    if not facts.installed:
        raise BackendError(f"backend {name!r} cannot be opened: there is no package {facts.requires!r}{hint}")
    try:
        opener = load(facts.opens)
    except (ImportError, AttributeError) as error:
        raise BackendError(f"backend {name!r} cannot be opened: {error}{hint}") from None
    if not callable(opener):
        raise BackendError(f"backend {name!r} is a {type(opener).__name__}; what opens a backend is a callable without arguments")
    try:
        opened: Backend = opener()
    except Exception as error:
        raise BackendError(f"backend {name!r} cannot be opened: {type(error).__name__}: {error}") from error
    opened.info = _as_measured(_checked(name, opened))
    return opened


def _as_measured(info: BackendInfo) -> BackendInfo:
    """Have a release that was measured (`conformance learn`) start from its conventions.

    Raises:
        ConventionsError: if the file is none.
    """
    path = measured(info.name, info.version) or measured(info.variant_of, info.version)
    if path is None or (known := conventions(read(path))) == info.dialect.conventions:
        return info
    return replace(info, dialect=replace(info.dialect, conventions=known))


def measured(name: str, version: str) -> Path | None:
    """Return the file of what was measured of a release: here, or else the package's own; ``None`` if there is none."""
    files = (release_file(name, version, folder) for folder in (MEASURED, FOLDER))
    return next((path for path in files if path.is_file()), None)


def _checked(name: str, opened: Backend) -> BackendInfo:
    """Return the facts of a backend, under the name by which the ledger and the findings call it: the user's.

    Raises:
        BackendError: if it is no backend, or one of its facts is of another type than it should be.
    """
    info = getattr(opened, "info", None)
    if not isinstance(info, BackendInfo) or not callable(getattr(opened, "run", None)):
        raise BackendError(f"backend {name!r} opens as a {type(opened).__name__}; a backend has 'info', a BackendInfo, and 'run'")
    for fact, kind in {"name": str, "version": str, "dialect": Dialect, "not_offered": Mapping}.items():
        if not isinstance(given := getattr(info, fact), kind):
            raise BackendError(f"backend {name!r} has {given!r} as its {fact}, which is a {kind.__name__}")
    if info.variant_of and info.variant_of not in names():
        raise BackendError(
            f"backend {name!r} has {info.variant_of!r} as its variant_of, which is one of {', '.join(names())}, or empty"
        )
    for fact, words in CHOSEN.items():
        if (given := getattr(info, fact)) not in words:
            raise BackendError(f"backend {name!r} has {given!r} as its {fact}, which is one of {', '.join(words)}")
    title = info.title or ("" if info.name == name else str(info.name))
    variant_of = info.variant_of or (info.name if info.name in BUILT_IN else "")
    return replace(info, name=name, version=str(info.version), title=title, variant_of="" if variant_of == name else variant_of)


def answer(backend: Backend, case: Case) -> Outcome:
    """Run a case on a backend that may be anybody's.

    Raises:
        BackendError: if it raises, which says nothing of the engine and is for the author of the adapter to mend.
    """
    try:
        return backend.run(case)
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        raise BackendError(f"backend {backend.info.name!r} broke on case {case.id} instead of answering: {said}") from error
