"""Standalone reproductions: a case as a person would write it for one framework, in a script that imports it and NumPy alone.

The printer of a framework is in its folder. What they share is here: the skeleton of a script that runs step by step (`eager`), and
pieces of Python text (`python_text`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.backends.registry import load, registration, registrations

if TYPE_CHECKING:
    from conformance.case.case import Case


def printers() -> list[str]:
    """Name the backends that print a case as a script."""
    return [name for name, facts in registrations().items() if facts.script]


def script(case: Case, name: str) -> str:
    """Write a case as a script for a backend, which need not be installed.

    Raises:
        BackendError: if the backend is unknown.
        ValueError: if it prints no scripts.
    """
    printer = registration(name).script
    if not printer:
        msg = f"{name!r} is not one of {', '.join(map(repr, printers()))}"
        raise ValueError(msg)
    text: str = load(printer)(case)
    return text
