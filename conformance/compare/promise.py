"""What a dialect promises for a case: the reference's run of it, and every other run that a judge asks for.

Many look at one case: the comparison, the known deviations, the votes on who is wrong, the laws, the null pairs. Each needs to know
what should have come, how far rounding can carry it, and often what would have come otherwise: on another branch near a kink, in
higher precision, for another script. If each ran the reference for itself, one verdict would run it dozens of times, and nobody could
see what a verdict costs. So a `Promise` is handed from one to the next; what it was asked once it knows:

    promise = Promise(case, engine.info)
    verdict = judge(promise, engine.run(case))
    promise.outcome                     # computed once, whoever asks
    promise.bounds.accepts(array, step, slot, "result")
    promise.on(branches).outcome        # what is right if kinks are passed on these sides
    promise.of(variant).outcome         # what the same dialect promises for another script
    with promise.under(change) as changed:
        changed.outcome                 # what would be right by other rules

This is the one place that runs the reference on behalf of a judge.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from conformance.backends import BackendInfo
from conformance.backends.reference import reference
from conformance.case.outcome import Raised
from conformance.case.steps import AppendBackward
from conformance.compare.branches import choosing, observing, taking, turned
from conformance.compare.history import History, Notes
from conformance.compare.rounding import Bounds
from reference_impl import PADDLE, PADDLE_STATIC, TORCH, Category

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from conformance.backends import Backend
    from conformance.case.case import Case
    from conformance.case.outcome import Outcome
    from conformance.compare.branches import Branches, Choice, Observer
    from conformance.compare.history import Applied
    from reference_impl import Dialect


_changes: list[object] = []
"""The changes of the reference's rules that are under way: what one promise knows by now was computed under those of its time."""


class Promise:
    """What the dialect of a backend promises for a case, given what that backend does not offer.

    ``outcome``: what must be observed, if it is known already. ``branches``: those on which every run is made; ``None``: those that
    the numbers say.
    """

    def __init__(self, case: Case, info: BackendInfo, outcome: Outcome | None = None) -> None:
        self.case = case
        self.info = info
        self.branches: Branches | None = None
        self._turned: Branches | None = None
        self._reference = reference(info.dialect, info.not_offered)
        self._made_under = _changes[:]
        self._others: dict[str, Promise] = {}
        if outcome is not None:
            self.outcome = outcome

    @cached_property
    def outcome(self) -> Outcome:
        """What must be observed."""
        return self._history.outcome

    @cached_property
    def _history(self) -> History:
        return self.history()

    def history(self, *, widen: bool = False) -> History:
        """Run the reference anew and note down what it applies."""
        notes = Notes()
        return History(self.run(notes.observe, widen=widen), notes.applied)

    @cached_property
    def impossible(self) -> tuple[int, str] | None:
        """The first step that is wrong by itself, whatever the engine (shapes that do not fit, an axis that is none), and why.

        The reference refuses it and no document says how, so nothing is promised there, and nothing that an engine does is right.
        """
        seen = enumerate(self.outcome.observations)
        return next(((n, o.message) for n, o in seen if isinstance(o, Raised) and o.category is Category.UNMAPPED), None)

    @cached_property
    def widened(self) -> Outcome:
        """The same in float64, or complex128, whatever the case says."""
        return self.run(widen=True)

    @cached_property
    def bounds(self) -> Bounds:
        """How far rounding can carry each number; nothing runs before one is asked for."""
        return Bounds(self.case, lambda widen: self.history(widen=True) if widen else self._history)

    def applied(self, name: str) -> list[Applied]:
        """Return where the reference applies a primitive of that name."""
        return [one for one in self._history.applied if one.primitive.name == name]

    @property
    def finite(self) -> bool:
        """Whether no number that the reference meets is infinite or NaN."""
        return self._history.taken_finite

    @cached_property
    def rounds(self) -> bool:
        """Whether numbers of the case round; where none does, a right engine agrees to the last bit."""
        return self.case.lane == "numeric" or not self.bounds.exact

    def on(self, branches: Branches, plain: Branches | None = None) -> Promise:
        """Return what is promised if the branches are taken that are given, see `conformance.compare.branches`.

        ``plain``: those that the numbers say. If they are given, other scripts are promised on these branches, too: they turn off where
        this one does, and take everywhere else what their own numbers say.
        """
        forced = Promise(self.case, self.info)
        forced.branches = branches
        forced._turned = None if plain is None else turned(branches, plain)
        return forced

    def of(self, case: Case) -> Promise:
        """Return what the same dialect promises for another case.

        It is kept: known deviations that stand in one another's answers ask for the same scripts again and again.
        """
        if not self.is_of_now:
            return self._another(case)
        if case.id not in self._others:
            self._others[case.id] = self._another(case, self._others)
        return self._others[case.id]

    @property
    def is_of_now(self) -> bool:
        """Whether the rules are those under which it was made, so that what it is asked now may be kept."""
        return self._made_under == _changes

    @contextmanager
    def under(self, change: AbstractContextManager[None]) -> Iterator[Promise]:
        """Change rules of the reference for a while, and give what these promise for this case."""
        _changes.append(change)
        try:
            with change:
                yield self._another(self.case)
        finally:
            _changes.pop()

    def _another(self, case: Case, others: dict[str, Promise] | None = None) -> Promise:
        """Return what is promised for a case, which shares what it knows of ``others``."""
        other = Promise(case, self.info)
        other.branches = other._turned = self._turned
        other._others = {} if others is None else others
        return other

    def answered(self, info: BackendInfo, outcome: Outcome) -> Promise:
        """Return the promise that another engine of this dialect answers the case as one did: rounding carries that just as far."""
        other = Promise(self.case, info, outcome)
        other.bounds = self.bounds
        return other

    def run(self, observe: Observer | None = None, choose: Choice | None = None, *, widen: bool = False) -> Outcome:
        """Run the reference anew, with an eye on every primitive: ``observe`` its outputs, or ``choose`` its branches."""
        backend = self._wide if widen else self._reference
        with ExitStack() as stack:
            stack.enter_context(np.errstate(all="ignore"))
            if observe is not None:
                stack.enter_context(observing(observe))
            if (taken := taking(self.branches, choose)) is not None:
                stack.enter_context(choosing(taken))
            return backend.run(self.case)

    @cached_property
    def _wide(self) -> Backend:
        return reference(self.info.dialect, self.info.not_offered, widen=True)


@lru_cache(maxsize=64)
def promised(case: Case, dialect: Dialect) -> Outcome:
    """Return what a dialect as such promises for a case, whatever backend speaks it; for those who only read it."""
    return Promise(case, BackendInfo(dialect.name, "", dialect, dialect.not_offered)).outcome


def impossible(case: Case) -> tuple[int, str] | None:
    """Return the first step that nobody can run, as `Promise.impossible`, by the dialects that the script is written for.

    What an op takes is not the same in all: Paddle's ``linear`` takes vectors for its matrices.
    """
    static = any(isinstance(step, AppendBackward) for step in case.steps)
    dialects = (PADDLE_STATIC,) if static else (TORCH, PADDLE)
    found = None
    for dialect in dialects:
        there = Promise(case, BackendInfo(dialect.name, "", dialect, dialect.not_offered)).impossible
        if there is None:
            return None
        found = found or there
    return found
