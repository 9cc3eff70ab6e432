"""Whether an adapter is sound, as the command says it."""

from __future__ import annotations

from conformance.backends import open_backend
from conformance.backends.contract import check
from conformance.backends.registry import slowness
from conformance.campaign.workers.pool import Workers
from conformance.case.prose import counted

PATIENCE = 60.0
"""Seconds in which an adapter is asked all that the contract asks."""


def soundness(name: str) -> tuple[str, bool]:
    """Return what a backend does not keep of the contract, and whether that is nothing.

    Raises:
        BackendError: if it cannot be opened.
    """
    with Workers((name,), 1) as workers:
        facts = workers.describe(name)
        patience = PATIENCE * slowness((name,))
        problems = workers.call(_problems, name, timeout=patience)
    if problems is None:
        problems = [f"its process died of what the contract asks, or did not answer within {patience:.0f} s"]
    lacking = counted(len(facts.not_offered), "entry", "entries")
    who = f"{facts.name} {facts.version} (dialect {facts.dialect}; not_offered has {lacking})"
    if problems:
        return "\n".join([f"{who} does not keep the contract:", *(f"  {problem}" for problem in problems)]), False
    steps = f"conformance learn --backend {name}", f"conformance run --backends {name}", f"conformance laws --backend {name}"
    return "\n".join([f"{who} keeps the contract. What comes next:", *(f"  {step}" for step in steps)]), True


def _problems(name: str) -> list[str]:
    return check(lambda: open_backend(name))
