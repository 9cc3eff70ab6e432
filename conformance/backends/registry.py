"""Which backends there are, and what is known of one before its framework is imported.

A campaign has to know whether a backend runs static programs, whether it votes on the findings of others, and what prints its scripts.
To ask the backend would be to import its framework, which takes seconds and may end the process. So these facts stand in a
`Registration`, in the ``__init__`` of the framework's folder, which imports nothing of the framework; the engine and the printer of
scripts are named there by import strings and are imported when they are used.

One line puts a folder on the list: in `BUILT_IN`, or, for a package of its own, as an entry point of the group
``autograd_conformance.backends``::

    [project.entry-points."autograd_conformance.backends"]
    mine = "my_package.my_framework"                  # a module that has a REGISTRATION
    quick = "my_package.adapter:open_backend"         # or only what opens the backend, if there is nothing else to say
"""

from __future__ import annotations

import importlib
import importlib.util
import re
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reference_impl import Dialect

GROUP = "autograd_conformance.backends"
FACTS = "REGISTRATION"
"""What the registration is called in its module."""

BUILT_IN = {
    "reference": "conformance.backends.reference",
    "torch": "conformance.backends.torch",
    "paddle": "conformance.backends.paddle",
    "paddle-static": "conformance.backends.paddle_static",
    "paddle-static-legacy": "conformance.backends.paddle_static_legacy",
}


IMPORT_STRING = re.compile(r"(?=.*[.:])NAME(\.NAME)*(:\S+)?".replace("NAME", r"[^\W\d]\w*"))
"""A module in a package, or ``module:attribute``."""


class BackendError(Exception):
    """A backend that is unknown or cannot be opened; the message says what is allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """The facts of a backend that its framework need not be imported for.

    Attributes:
        opens: import string of the callable that opens the backend; its module imports the framework.
        title: what people call the framework.
        requires: the package that the framework is, if any; where it is missing, the backend cannot be opened.
        script: import string of the function that prints a case and what is promised of it (`conformance.backends.repro.claims`) as a
            standalone script, ``""`` if there is none.
        dialect: that of which its scripts assert the promises; ``None`` where it prints none.
        static: whether cases are programs that are built first and run once, rather than scripts.
        votes: whether it is asked who is wrong, wherever another backend differs from the reference.
        against_itself: whether it is compared with itself, rearranged, to measure false alarms (`conformance.judge.nulls`): its answers
            must not depend on where elements lie in memory, nor differ in double precision by more than rounding.
        forks: whether a process in which it has run may be forked, which needs that it starts no threads; ``None``: nobody
            knows, and every campaign finds out, which takes seconds.
        slowness: how many times as long as on other engines a case may take before it is set aside, or hangs: an engine that compiles
            each op for each shape needs a second for what others do in some milliseconds.
    """

    opens: str
    title: str = ""
    requires: str = ""
    script: str = ""
    dialect: Dialect | None = None
    static: bool = False
    votes: bool = False
    against_itself: bool = False
    forks: bool | None = None
    slowness: float = 1.0

    @property
    def installed(self) -> bool:
        """Whether its framework is there to be imported."""
        return not self.requires or importlib.util.find_spec(self.requires) is not None


def names() -> dict[str, str]:
    """Return every backend that can be named, the built-in ones first, with the module of its registration or what opens it."""
    installed = {entry.name: entry.value for entry in entry_points(group=GROUP)}
    return {**BUILT_IN, **installed, **BUILT_IN}


def registration(name: str) -> Registration:
    """Return the facts of a backend by its name, its module, or ``module:attribute`` (a callable without arguments).

    Of ``module:attribute`` nothing more is known, and nothing is imported to learn more.

    Raises:
        BackendError: if it is unknown or its registration cannot be imported.
    """
    known = names()
    target = known.get(name, name if IMPORT_STRING.fullmatch(name) else None)
    if target is None:
        msg = f"backend {name!r} is unknown; known are {', '.join(known)}, or give module:attribute"
        raise BackendError(msg)
    if ":" in target:
        return Registration(opens=target)
    try:
        found = load(f"{target}:{FACTS}")
    except (ImportError, AttributeError) as error:
        msg = f"backend {name!r} cannot be opened: {error}; its module must have a {FACTS}"
        raise BackendError(msg) from None
    if not isinstance(found, Registration):
        msg = f"backend {name!r} cannot be opened: {target}.{FACTS} is a {type(found).__name__}, not a Registration"
        raise BackendError(msg)
    return found


def registrations() -> dict[str, Registration]:
    """Return the facts of every backend that has a name; one whose registration is broken is told when it is asked for."""
    found = {}
    for name in names():
        try:
            found[name] = registration(name)
        except BackendError:
            continue
    return found


def voters() -> list[str]:
    """Name the backends that vote on the findings of others, of those whose framework is installed."""
    return [name for name, facts in registrations().items() if facts.votes and facts.installed]


def slowness(backends: Iterable[str]) -> float:
    """Return how many times as long as usual a case may take on these backends together: as long as on the slowest."""
    return max((registration(name).slowness for name in backends), default=1.0)


def load(target: str) -> Any:
    """Import what an import string names.

    Raises:
        ImportError: if there is no such module, or it needs one that is missing.
        AttributeError: if it has no such attribute.
    """
    module, _, attribute = target.partition(":")
    return getattr(importlib.import_module(module), attribute)
