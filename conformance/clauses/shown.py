"""Which value of each switch an engine shows: what its adapter says of it, measured by the curated cases of the dialects.

A newcomer may not know how an engine accumulates, what it refuses when a graph was freed, or whose ``.grad`` it retains, and a dialect
that says it wrongly makes findings of all of that. So each switch is set to each of its values, and those are shown under which
the engine answers every case of that switch as is promised. Switches meet in these cases: that nothing is freed shows only once it is
known which tensors have a ``.grad``. So all are set to what explains most, again and again, until nothing changes.

Tables, such as which views are copies, are measured op by op and are not asked for here. An open choice could explain what a switch
should, so none is followed but where no value explains the answers without.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from conformance.backends import answer
from conformance.campaign.workers.backend_cache import backend
from conformance.case.outcome import NotOffered
from conformance.case.place import END
from conformance.clauses.dialects import CASES
from conformance.compare.compare import Comparer
from conformance.compare.following import follow
from conformance.compare.promise import Promise
from conformance.deviations.explain import excuse, scripts_instead
from reference_impl.dialects.switches import SWITCHES

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from conformance.backends import BackendInfo
    from conformance.campaign.workers.pool import Workers
    from conformance.case.case import Case
    from conformance.case.outcome import Outcome
    from conformance.clauses.curated import Curated
    from conformance.compare.mismatch import Mismatch
    from reference_impl.dialects.switch import Switch

    Cases = Collection[tuple[Curated, Outcome]]

ROUNDS = 5
"""How often every switch is set anew; each round settles at least one of those that hide another."""
WITH_DETAIL = ("value", "unreadable")
"""Kinds of differences of which the words alone do not tell what is wrong."""
DECLARED = ("static",)
"""Switches that an engine's registration settles."""

ASKED = tuple(one for one in CASES if one.clause not in DECLARED)


@dataclass(frozen=True)
class Shown:
    """What an engine shows of a switch.

    Attributes:
        values: the values under which it answers every case as is promised.
        said: the value that its dialect says.
        differs: what differs under each value, where there is no such value.
        offered: whether the engine offers all that one of the cases asks.
    """

    field: str
    said: Any
    values: tuple[Any, ...]
    differs: str = ""
    offered: bool = True

    @property
    def untold(self) -> bool:
        """Whether the engine would answer the same under several values."""
        return len(self.values) > 1

    @property
    def otherwise(self) -> bool:
        """Whether it shows another value than the one that its dialect says."""
        return bool(self.values) and self.said not in self.values


def switches_shown(name: str, workers: Workers) -> list[Shown]:
    """Return what a backend, which can be opened, shows of each switch; a case of which its process dies shows nothing."""
    info = workers.call(info_of, name)
    outcomes = list(workers.calls(answered, [(name, one.case) for one in ASKED]))
    return [] if info is None else shown(info, outcomes)


def info_of(name: str) -> BackendInfo:
    """Return the facts of a backend, in whatever process this is called."""
    return backend(name).info


def answered(name: str, case: Case) -> Outcome:
    """Run a case on a backend, in whatever process this is called."""
    return answer(backend(name), case)


def shown(info: BackendInfo, outcomes: Sequence[Outcome | None]) -> list[Shown]:
    """Say of each switch under which of its values an engine answered its cases so; ``None``: it did not answer."""
    cases: dict[str, list[tuple[Curated, Outcome]]] = {}
    for one, outcome in zip(ASKED, outcomes, strict=True):
        if outcome is not None:
            cases.setdefault(one.clause, []).append((one, outcome))
    switches = [switch for switch in SWITCHES if isinstance(getattr(info.dialect, switch.field), (str, bool)) and switch.field in cases]
    found = info
    for _ in range(ROUNDS):
        before = found.dialect
        for switch in switches:
            found = _set(found, switch, cases[switch.field])
        if found.dialect == before:
            break
    return [_shown(info, found, switch, cases[switch.field]) for switch in switches]


def _set(info: BackendInfo, switch: Switch, cases: Cases) -> BackendInfo:
    """Set a switch to the value that explains most; to the one that it has, if others explain as much."""
    own = getattr(info.dialect, switch.field)
    others = [value for value in switch.values if value != own]
    return max((_with(info, switch, value) for value in (own, *others)), key=lambda one: sum(_part(one, *case) for case in cases))


def _with(info: BackendInfo, switch: Switch, value: Any) -> BackendInfo:
    return replace(info, dialect=replace(info.dialect, **{switch.field: value}))


def _part(info: BackendInfo, one: Curated, outcome: Outcome) -> float:
    """Say how much of a case is explained, up to 1."""
    found = _mismatch(info, one, outcome)
    return 1.0 if found is None else 0.0 if found.step is END else found.step / len(one.case.steps)


def _mismatch(info: BackendInfo, one: Curated, outcome: Outcome, *, following: bool = False) -> Mismatch | None:
    """Return what differs. What no engine of the dialect offers says nothing of a switch, whatever this one does there."""
    promise = Promise(one.case, info)
    if not _offered(promise.outcome):
        return None
    compared = Comparer(promise).run(outcome, excuse(promise))
    return (follow(promise, outcome, excuse, scripts_instead, compared).comparison if following else compared).mismatch


def _offered(outcome: Outcome) -> bool:
    """Whether each step of a case is offered."""
    return not any(isinstance(seen, NotOffered) for seen in outcome.observations)


def _shown(info: BackendInfo, found: BackendInfo, switch: Switch, cases: Cases) -> Shown:
    for following in (False, True):
        differing = {value: _differing(_with(found, switch, value), cases, following=following) for value in switch.values}
        values = tuple(value for value, differs in differing.items() if not differs)
        if values:
            break
    differs = "" if values else "; ".join(f"{value!r}: {differs}" for value, differs in differing.items())
    offered = any(_offered(outcome) for _, outcome in cases)
    return Shown(switch.field, getattr(info.dialect, switch.field), values, differs, offered)


def _differing(info: BackendInfo, cases: Cases, *, following: bool) -> str:
    """Say in which case an answer differs from what is promised, and in what; nothing if in none."""
    for one, outcome in cases:
        if (found := _mismatch(info, one, outcome, following=following)) is not None:
            if found.kind in WITH_DETAIL:
                return f"{one.title} ({found.detail})"
            what = f"{found.kind} of {found.name}: " if found.name else ""
            return f"{one.title} ({what}expected {found.expected}, actual {found.actual})"
    return ""
