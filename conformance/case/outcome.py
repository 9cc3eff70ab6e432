"""What a backend answers: one observation per step, a closed union.

An engine that returns no gradient, one that returns zeros, one that refuses, and one that has no such op must never look alike, or
else a difference between them is lost. So *absent* (``None``), zero, *raised* and *not offered* each have a form of their own here, and
nothing turns one into another.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

from conformance.ops.dtypes import WIDE

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
    """Something that happened during a step: a hook or a custom backward was called, or a call wrote something.

    ``name``: whose call it was, or what was written; ``value``: the cotangent that it was given (``None``: absent); ``recording``:
    whether ops were recorded meanwhile.
    """

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
    that were observed when they were made, or last changed in place, ``changed`` what each of these held last, if the adapter tells.
    """

    observations: list[Observation]
    final: State
    mutated: tuple[str, ...] = ()
    changed: tuple[Value, ...] = ()


def grad_before(outcome: Outcome, number: int, slot: int) -> Value | None:
    """Return the ``.grad`` of a watched value before a step; ``None``: absent."""
    for seen in reversed(outcome.observations[:number]):
        if isinstance(seen, Computed | Raised) and seen.state is not None:
            return seen.state[slot]
    return None


def grad_added(outcome: Outcome, number: int, slot: int) -> Any:
    """Return the gradient that a call alone gave to a watched value whose ``.grad`` is there after it, in double precision.

    A ``.grad`` accumulates: after the second of two equal calls it holds twice what either of them gave. So what it held before the
    call is subtracted. Where the engine replaces a ``.grad`` instead, the difference says nothing.
    """
    seen = outcome.observations[number]
    after = seen.state[slot] if isinstance(seen, Computed | Raised) and seen.state is not None else None
    assert after is not None, "the .grad is there after the call"  # noqa: S101 - what the caller promises
    before = grad_before(outcome, number, slot)
    return _wide(after) - (0.0 if before is None else _wide(before))


def _wide(value: Value) -> Any:
    return value.array.astype(WIDE[value.array.dtype.kind])


_TOLD = {kind: [each.name for each in fields(kind) if each.name != "message"] for kind in (*get_args(Observation), Event, Outcome)}
"""What is told of each kind of observation."""


def plainly(seen: Any) -> Any:
    """Return what was observed as plain data that is equal where it is the same to the last bit; a refusal's words do not count."""
    kind = type(seen)
    if kind is Value:
        array = seen.array
        return array.dtype.str, array.shape, array.tobytes(), seen.requires_grad, seen.unreadable
    if kind is tuple or kind is list:
        return tuple([plainly(each) for each in seen])
    if kind in _TOLD:
        return kind.__name__, *[plainly(getattr(seen, name)) for name in _TOLD[kind]]
    return seen
