"""The laws by name, and how they are tried on an engine.

A law of calls looks at each call of a script by itself, a law of scripts at the whole. A law need not apply everywhere: that of
second derivatives says nothing about a graph in which a value is detached. Where a law does not apply it offers no trial; the function
that makes its trials says when that is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from conformance.case.outcome import Raised
from conformance.case.place import END
from conformance.judge.canary import healthy
from conformance.laws import first_order as first
from conformance.laws import script, slope
from conformance.laws import second_order as second
from conformance.laws.known import Broken, known_deviation
from conformance.laws.relation import Answer, Evidence, Status
from conformance.laws.script import settle_all
from conformance.laws.subject import ObservedCase, Trial, subjects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from conformance.backends import Backend
    from conformance.case.case import Case
    from conformance.case.outcome import Outcome
    from conformance.case.place import StepNumber
    from conformance.laws.subject import Subject

OfCall: TypeAlias = "Callable[[Subject], Trial | None]"
OfScript: TypeAlias = "Callable[[ObservedCase], Trial | None]"


@dataclass(frozen=True, slots=True)
class Law:
    """One law: its name, what it says in one line, and how a trial of it is made, of a call or of a whole script."""

    id: str
    statement: str
    of_call: OfCall | None = None
    of_script: OfScript | None = None

    def trials(self, observed: ObservedCase) -> Iterator[tuple[StepNumber, Trial]]:
        """Yield the trials that a script offers, each with the number of the call, or `END`."""
        if self.of_script is not None:
            found = self.of_script(observed)
            if found is not None:
                yield END, found
        if self.of_call is not None:
            for subject in subjects(observed):
                found = self.of_call(subject)
                if found is not None:
                    yield subject.number, found


LAWS: dict[str, Law] = {
    law.id: law
    for law in (
        Law("linear-seed", "the gradient is linear in the seed", first.linear_in_the_seed),
        Law("sum-of-outputs", "the gradient of several outputs is the sum of their gradients", first.sum_over_outputs),
        Law("accumulation", "backward adds to .grad what grad returns", first.backward_is_accumulated_grad),
        Law("projection", "asking for some gradients changes neither them nor the others", first.inputs_project),
        Law("no-grad-vars", "no_grad_vars equals detaching", first.no_grad_vars_detach),
        Law("flags", "retain_graph and create_graph change no value", first.flags_change_no_value),
        Law("hessian", "second derivatives are symmetric", second.symmetric_hessian),
        Law("adjoint", "the derivative forwards is the transpose of the derivative backwards", second.adjoint),
        Law("dead-branches", "a branch that no call reaches changes nothing", None, script.dead_branches),
        Law("build-order", "the order in which independent ops are applied changes nothing", None, script.build_order),
        Law("no-mutation", "operands, inputs and seeds are never changed", None, script.nothing_is_mutated),
        Law("repeatable", "running twice gives the same, to the last bit or as far as the engine says", None, script.repeatable),
        Law("slope", "gradients are the slopes of the engine's own values", slope.slope_of_its_own_values),
    )
}


@dataclass(frozen=True, slots=True)
class Tried:
    """A law that was tried on a call (``step``; `END`: the whole script), with the answer."""

    law: str
    step: StepNumber
    answer: Answer


def try_laws(
    case: Case,
    backend: Backend,
    outcome: Outcome,
    laws: Sequence[str],
    entering: Callable[[str], None] = lambda _: None,
    *,
    at_most: int | None = None,
) -> list[Tried]:
    """Try laws on a case that a backend has run, in this order, on each call; stop after ``at_most`` that were not empty.

    ``entering`` hears of each law before it is tried.
    """
    tried: list[Tried] = []
    for name in laws:
        entering(name)
        for step, trial in LAWS[name].trials(ObservedCase(case, outcome, backend.info, list(LAWS).index(name))):
            answer, refused = settle(trial, case, backend, outcome, Broken(name, step))
            if answer.status is not Status.EMPTY:
                tried.append(Tried(name, step, answer))
            if refused and not healthy(backend):
                return [*tried, Tried(name, step, Answer(Status.POISONED, "after a refusal the process differentiates wrongly"))]
            if at_most is not None and len(tried) >= at_most:
                return tried
    return tried


def cases_of(law: str, case: Case, backend: Backend, outcome: Outcome) -> list[Case]:
    """Return the cases of all trials of a law."""
    observed = ObservedCase(case, outcome, backend.info, list(LAWS).index(law))
    return [asked for _, trial in LAWS[law].trials(observed) for asked in trial.cases]


def settle(trial: Trial, case: Case, backend: Backend, outcome: Outcome, where: Broken) -> tuple[Answer, bool]:
    """Run the cases of a trial and say whether its relations hold, and whether something was refused on the way.

    The first case may be the case itself, which has run. ``where`` says what is broken if they do not hold.
    """
    outcomes = [outcome if number == 0 and asked is case else backend.run(asked) for number, asked in enumerate(trial.cases)]
    answer = settle_all(trial.relations, Evidence(trial.cases, outcomes, backend.info))
    if answer.status is Status.BROKEN:
        entry = known_deviation(where, trial, outcomes, backend)
        if entry:
            answer = Answer(Status.KNOWN, answer.detail, entry)
    return answer, any(isinstance(o, Raised) for given in outcomes for o in given.observations)


def broken_laws(case: Case, backend: Backend) -> dict[str, str]:
    """Return the laws that a backend breaks on a case, with how; those that a known deviation explains are left out."""
    tried = try_laws(case, backend, backend.run(case), list(LAWS))
    return {t.law: t.answer.detail for t in reversed(tried) if t.answer.status is Status.BROKEN}
