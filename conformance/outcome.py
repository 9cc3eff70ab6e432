"""What a backend answers: one observation per step, a closed union.

*Absent* (``None``) is not zero, and neither is *not offered*: each has its own form here, and nothing turns one into another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np

    from reference_impl import Category


@dataclass(slots=True)
class Value:
    """One tensor as seen from outside; shape and dtype are the array's.

    ``unreadable``: why the engine would not show its elements; the array is empty then.
    """

    array: np.ndarray[Any, Any]
    requires_grad: bool
    unreadable: str = ""


@dataclass(slots=True)
class Event:
    """One call of a hook, or one thing that a call wrote: who, the cotangent (``None``: absent), whether ops would be recorded."""

    name: str
    value: Value | None = None
    recording: bool = False


State: TypeAlias = "tuple[Value | None, ...]"


@dataclass(slots=True)
class Computed:
    """The step ran.

    ``values``: its results (``None``: absent); ``state``: ``.grad`` of the watched values, where it may change; ``events``: what
    happened meanwhile, in order.
    """

    values: tuple[Value | None, ...] = ()
    state: State | None = None
    events: tuple[Event, ...] = ()


@dataclass(slots=True)
class Raised:
    """The step was refused, and why; ``state`` and ``events`` as in `Computed`."""

    category: Category
    message: str
    state: State | None = None
    events: tuple[Event, ...] = ()


@dataclass(slots=True)
class NotOffered:
    """The backend has no such op or parameter, for this reason."""

    reason: str


@dataclass(slots=True)
class Blocked:
    """The step was not tried: a value that it needs is missing, because an earlier step failed or gave an absent result."""

    missing: str


Observation: TypeAlias = Computed | Raised | NotOffered | Blocked


@dataclass(slots=True)
class Outcome:
    """One backend's answer to one case.

    ``final`` is ``.grad`` of the watched values after the last step; ``mutated`` names the values whose elements are no longer those
    that were observed when they were made, or last changed in place.
    """

    observations: list[Observation]
    final: State
    mutated: tuple[str, ...] = ()


@dataclass(slots=True)
class Crashed:
    """The process died."""

    exit_code: int | None


@dataclass(slots=True)
class TimedOut:
    """The process did not come back in time."""

    seconds: float
