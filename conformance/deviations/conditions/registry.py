"""What a condition is, and for which steps of a script it is asked.

Many deviations show because of something that happened earlier, so "does the step do X", "did one before it", and "does any" are the
same question at three times. A condition is therefore a predicate on one step, with what stands before it, and an entry says for
which steps it is asked: its *scope*. ``when = ["before: create_graph", "at: no_grad_vars"]`` holds at a `grad` call with
``no_grad_vars`` that comes after a call with ``create_graph``.

A condition looks at the script, never at what a backend answered.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from conformance.case.place import END, StepNumber

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from conformance.case.case import Case

OR = " or "


def _at(number: StepNumber, count: int) -> range:
    return range(count) if number is END else range(number, number + 1)


def _before(number: StepNumber, count: int) -> range:
    return range(count if number is END else number)


def _until(number: StepNumber, count: int) -> range:
    return range(count if number is END else number + 1)


def _anywhere(_: StepNumber, count: int) -> range:
    return range(count)


ANYWHERE = "anywhere"
SCOPES: Mapping[str, Callable[[StepNumber, int], range]] = {"at": _at, "before": _before, "until": _until, ANYWHERE: _anywhere}
"""The steps for which a condition is asked: the one that differs, those before it, both, or all. At the `END` of a case it is all."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A predicate by its name; ``words`` say what it asks, ``of_case`` that it is about a case as a whole, not about a step."""

    name: str
    words: str
    holds: Callable[[Case, int], bool]
    of_case: bool = False


CONDITIONS: dict[str, Condition] = {}
"""Every condition by its name. Filled when the modules beside this one are imported, read-only afterwards."""


def condition(asked: Callable[[Case, int], bool]) -> Callable[[Case, int], bool]:
    """Register a predicate on one step of a case by the name of its function; its docstring says what it asks."""
    _register(Condition(asked.__name__, _words(asked), asked))
    return asked


def case_condition(asked: Callable[[Case], bool]) -> Callable[[Case], bool]:
    """Register a predicate on a case as a whole; its scope is ``anywhere``."""
    _register(Condition(asked.__name__, _words(asked), lambda case, _: asked(case), of_case=True))
    return asked


def _words(asked: Callable[..., bool]) -> str:
    return (asked.__doc__ or "").partition("\n")[0].removeprefix("Whether ").removesuffix(".")


def _register(made: Condition) -> None:
    if made.name in CONDITIONS:
        msg = f"there are two conditions of the name {made.name!r}"
        raise ValueError(msg)
    CONDITIONS[made.name] = made


class Term(NamedTuple):
    """A condition with its scope, by their names."""

    scope: str
    name: str

    def holds(self, case: Case, number: StepNumber) -> bool:
        """Whether the condition holds for some step of its scope."""
        asked = CONDITIONS[self.name]
        if asked.of_case:
            return asked.holds(case, 0)
        return any(asked.holds(case, i) for i in SCOPES[self.scope](number, len(case.steps)))


@functools.cache
def terms(words: str) -> tuple[Term, ...]:
    """Read what stands in an entry's ``when``: ``scope: name``, or several of these with ``or`` between them."""
    read = (part.partition(": ") for part in words.split(OR))
    return tuple(Term(scope, name) for scope, _, name in read)


@functools.lru_cache(maxsize=1 << 16)
def holds(words: str, case: Case, number: StepNumber) -> bool:
    """Whether some term of a line of an entry's ``when`` holds where a case differs.

    That is kept, since many entries have the same lines, and the differences of a case are explained for each backend and open choice.
    """
    return any(term.holds(case, number) for term in terms(words))


def problems(words: str) -> Iterator[str]:
    """Say what is wrong with a line of an entry's ``when``."""
    for scope, name in terms(words):
        if not name:
            yield f"the condition {scope!r} has no scope; allowed are {', '.join(SCOPES)}, as in 'at: {scope}'"
        elif scope not in SCOPES:
            yield f"scope {scope!r} of condition {name!r} is unknown; allowed are {', '.join(SCOPES)}"
        elif name not in CONDITIONS:
            yield f"condition {name!r} is unknown; allowed are {', '.join(sorted(CONDITIONS))}"
        elif CONDITIONS[name].of_case and scope != ANYWHERE:
            yield f"condition {name!r} is about a case as a whole, so its scope is {ANYWHERE!r}, not {scope!r}"


def in_words(words: str) -> str:
    """Return a line of an entry's ``when`` with what each condition asks."""
    return OR.join(f"{scope}: {CONDITIONS[name].words}" for scope, name in terms(words))
