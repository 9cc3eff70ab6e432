"""Following: where nobody promises anything, what an engine did is what is expected of it from there on.

The reference asks open choices (`reference_impl.dialects.conventions`), and starts from what was measured of an engine before. Where
an answer differs, and another option of a choice that the run asked would explain it, that option is taken and the rest of the script
is predicted under it: values, bounds, branches, and what may be the consequence of what. The verdict says which options were taken.

No option explains a wrong number. Whether to refuse decides nothing else, and counting as connected adds zeros to what may be absent
(where each pass replaces a retained gradient, these zeros do).
But cutting a connection could hide a gradient that is lost; so that is an explanation only where what is cut vanishes identically: the
reference computes the same without it, in this case and with other inputs, but for zeros that are absent.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from conformance.case.outcome import Raised, plainly
from conformance.case.place import END
from conformance.case.rewrite import with_steps
from conformance.compare.compare import Comparer
from conformance.compare.promise import Promise
from conformance.compare.vanishing import ABSENCES, only_zeros_go
from reference_impl import Category
from reference_impl.dialects.conventions import COMPUTED, CUT, FORMULA, LINKED, OPTIONS, ORDER, REFUSED, UNNAMED, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from conformance.backends import BackendInfo
    from conformance.case.case import Case
    from conformance.case.outcome import Outcome
    from conformance.compare.comparison import Comparison, Known
    from conformance.compare.mismatch import Mismatch
    from reference_impl.dialects.conventions import OpenChoice

    Flip = tuple[OpenChoice, str, str]
    Instead = Callable[[Promise, Mismatch], Iterator[Case]]

TRIED = 24
"""How many explanations of one difference are tried of those that are as likely to contradict what was measured. What does not comes
first, and an engine that does is told so however much came before."""
MOST = 8
"""How many differences of one case are explained."""

REFUSALS = {
    str(Category.NOT_IMPLEMENTED): Kind.OFFERED,
    str(Category.GRAPH_FREED): Kind.FREED,
    str(Category.IN_PLACE_VERSION): Kind.KEPT,
}
"""What is said where a choice is to refuse, amid a pass."""

MINDED = tuple(map(str, (Category.BAD_ARGUMENT, Category.DTYPE, Category.NOT_DIFFERENTIABLE, Category.ROOT_WITHOUT_GRAPH)))
"""The refusals that may come of an open choice of the kind `allowed`: whether a call takes what it is given."""

CONNECTIONS = (*ABSENCES, str(Category.GRAPH_FREED), str(Category.NOT_IMPLEMENTED))
"""What is said where a choice is what a derivative depends on. Through a result it reaches a node that may have been freed, or may have
no further derivative."""

MORE = ("present", "requires_grad", "more")
"""What is said where something depends on more than is promised; where it depends on less, no further connection explains it."""


class Followed(NamedTuple):
    """A comparison under other options than were expected: ``options`` has those that were taken."""

    promise: Promise
    comparison: Comparison
    options: Mapping[OpenChoice, str]


def follow(promise: Promise, actual: Outcome, excuse: Callable[[Promise], Known], instead: Instead, comparison: Comparison) -> Followed:
    """Explain the first difference by an open choice, then the next one, as far as that goes; ``excuse`` says what is known.

    ``instead``: the scripts of which a step may have the answer where it differs as is known; they may ask what the case does not.
    """
    followed = Followed(promise, comparison, {})
    for _ in range(MOST):
        step = _one_further(promise, followed, actual, excuse, instead)
        if step is None:
            break
        followed = step
    return followed


def _one_further(
    promise: Promise, so_far: Followed, actual: Outcome, excuse: Callable[[Promise], Known], instead: Instead
) -> Followed | None:
    found = so_far.comparison.mismatch
    if found is None:
        return None
    best = None
    furthest = _place(found)
    told = plainly(so_far.promise.outcome)
    for options, is_elsewhere in _explanations(so_far.promise, found, instead):
        taken = {**so_far.options, **options}
        other = under(promise, taken)
        if not is_elsewhere and plainly(other.outcome) == told:
            continue  # it changes nothing that anybody is asked for
        compared = Comparer(other).run(actual, excuse(other))
        place = _place(compared.mismatch)
        if place <= furthest or _is_shadowed(found, compared):
            continue
        if CUT not in options.values() or only_zeros_go(so_far.promise, other):
            best, furthest = Followed(other, compared, taken), place
            if compared.mismatch is None:
                break
    return best


def _is_shadowed(found: Mismatch, compared: Comparison) -> bool:
    """Whether a difference is still there, counted as a consequence of something that is known: that explains nothing."""
    at = found.step, found.where, found.name, found.slot
    return any(at == (other.step, other.where, other.name, other.slot) for other in compared.shadowed)


def is_held(info: BackendInfo) -> bool:
    """Whether an engine is the very release of which its conventions were measured."""
    return info.dialect.conventions.release[1] == info.version.partition("+")[0]


def changed(promise: Promise, followed: Mapping[OpenChoice, str]) -> list[OpenChoice]:
    """Return the choices that this very release was measured to decide otherwise; of another one nothing is known for sure."""
    conventions = promise.info.dialect.conventions
    measured = [choice for choice in followed if choice in conventions.options] if is_held(promise.info) else []
    return [choice for choice in measured if followed[choice] not in conventions.varying.get(choice, ())]


def under(promise: Promise, options: Mapping[OpenChoice, str]) -> Promise:
    """Return what is promised if these choices are decided so."""
    dialect = promise.info.dialect
    return Promise(promise.case, replace(promise.info, dialect=replace(dialect, conventions=dialect.conventions.but(options))))


def asked(promise: Promise, found: Mismatch | None = None) -> dict[OpenChoice, str]:
    """Return the open choices that a run asks, up to the step at which something differs, with their options; the latest comes last."""
    case, dialect = promise.case if found is None else _until(promise, found).case, promise.info.dialect
    noting = dialect.conventions.noting()
    _ = Promise(case, replace(promise.info, dialect=replace(dialect, conventions=noting))).outcome
    return noting.noted or {}


def _until(promise: Promise, found: Mismatch) -> Promise:
    """Return what is promised of a script up to where something differs."""
    return promise if found.step is END else promise.of(with_steps(promise.case, promise.case.steps[: found.step + 1]))


def decisive(
    promise: Promise, actual: Outcome, excuse: Callable[[Promise], Known], choices: Mapping[OpenChoice, str]
) -> dict[OpenChoice, tuple[str, ...]]:
    """Return which open choices the answer of an engine shows to be decided as promised, since under another option it would be wrong.

    Each of these choices comes with the option that was promised, followed by the other options under which the answer would have been
    right, too: there no more is shown than that it is one of these. ``actual`` agrees with what is promised, but for what is known.
    ``choices``: those that the case asks, with what was promised.

    Each choice costs as many runs of the case as it has other options. So what the formulas of derivatives are made of is left out, and
    all choices of a kind are first tried together: where the answer is right although all of them are linked, or cut, or refuse, none
    of them shows anything.
    """
    open_here = {
        choice: option for choice, option in choices.items() if option != FORMULA or not (_is_deep(choice) or choice.about in UNNAMED)
    }
    alike: dict[tuple[Kind, str], dict[OpenChoice, str]] = {}
    for choice, option in open_here.items():
        for other in OPTIONS[choice.kind]:
            if other != option:
                alike.setdefault((choice.kind, other), {})[choice] = other

    def right(options: Mapping[OpenChoice, str]) -> bool:
        there = under(promise, options)
        return plainly(there.outcome) == told or Comparer(there).run(actual, excuse(there)).mismatch is None

    told = plainly(promise.outcome)
    shown_by_none = {key for key, options in alike.items() if len(options) > 1 and right(options)}
    shown = {}
    for choice, option in open_here.items():
        others = [other for other in OPTIONS[choice.kind] if other != option]
        also = [other for other in others if (choice.kind, other) in shown_by_none or right({choice: other})]
        if len(also) < len(others):
            shown[choice] = (option, *also)
    return shown


def alternatives(promise: Promise) -> Iterator[Promise]:
    """Yield what else is promised if the open choices that a run asks are decided otherwise: each alone, and all of a kind alike."""
    choices, told = asked(promise), plainly(promise.outcome)
    flips = [{choice: other} for choice, option in choices.items() for other in OPTIONS[choice.kind] if other != option]
    for kind, options in OPTIONS.items():
        flips += [dict.fromkeys((choice for choice in choices if choice.kind is kind), option) for option in options]
    for taken in filter(None, flips):
        other = under(promise, taken)
        if plainly(other.outcome) != told and (CUT not in taken.values() or only_zeros_go(promise, other)):
            yield other


def _place(found: Mismatch | None) -> tuple[float, int]:
    """Say how far a comparison came."""
    if found is None:
        return float("inf"), 1
    return float("inf") if found.step is END else found.step, found.slot


def _explanations(promise: Promise, found: Mismatch, instead: Instead) -> Iterator[tuple[dict[OpenChoice, str], bool]]:
    """Yield what may explain a difference, each with whether it is asked elsewhere, too: by a script of what is known to come instead.

    Of a refusal comes first what contradicts nothing that was measured of this very release, and turns just that refusal; then the
    nearest choices come, those about derivatives of derivatives last. Any node that a pass enters may refuse it; so of a refusal, and
    while an engine is learned of everything, those come before all others of which nothing is known.
    """
    scripts = [] if found.kind == "value" else [promise.of(case) for case in instead(promise, found)]
    answers = {found.expected, *(_answer(script) for script in scripts if found.kind == "error")}
    differ = [replace(found, expected=answer) for answer in sorted(answers, key=found.expected.__ne__)]
    several = [*filter(_kinds, differ)] or [found]  # from what is promised, and from what is known to come instead
    explained = [(differs, kinds) for differs in several if (kinds := _kinds_at(promise, differs))]
    if not explained:
        return
    own, of_scripts = asked(promise, found), {choice: option for script in scripts for choice, option in asked(script).items()}
    nearest = [*{**{choice: option for choice, option in of_scripts.items() if choice not in own}, **own}.items()][::-1]
    for differs, kinds in explained:
        flips = [(c, option, other) for c, option in nearest if c.kind in kinds for other in OPTIONS[c.kind] if other != option]
        distances = {flip: _distance(promise, differs, *flip) for flip in flips}
        for options in _likeliest_first(distances, (_until(promise, found), *scripts)):
            yield options, not of_scripts.keys().isdisjoint(options)


def _likeliest_first(distances: Mapping[Flip, tuple[bool, ...]], scripts: Sequence[Promise]) -> Iterator[dict[OpenChoice, str]]:
    """Yield each choice alone (a refusal with those behind it, too), then all of an op, all, and pairs."""
    ranked = sorted(distances, key=distances.__getitem__)
    for _, alike in itertools.groupby(ranked, key=lambda flip: distances[flip][:2]):
        yield from itertools.islice(_alone(alike, scripts), TRIED)
    yield from itertools.islice(_together(ranked), TRIED)
    yield from itertools.islice(_one_behind_another(ranked, scripts), TRIED)


def _alone(flips: Iterable[Flip], scripts: Iterable[Promise]) -> Iterator[dict[OpenChoice, str]]:
    """Yield the options of each choice alone, and of a refusal those with what lies behind it."""
    for choice, option, other in flips:
        yield {choice: other}
        if option == REFUSED and other == COMPUTED:
            yield from _behind(scripts, choice)


def _together(flips: Iterable[Flip]) -> Iterator[dict[OpenChoice, str]]:
    """Yield the options of all choices of an op that are the same, then those of all choices."""
    of_op: dict[tuple[str, str], dict[OpenChoice, str]] = {}
    of_all: dict[str, dict[OpenChoice, str]] = {}
    for choice, _, other in flips:
        of_op.setdefault((choice.op, other), {})[choice] = other
        of_all.setdefault(other, {})[choice] = other
    yield from (options for options in (*of_op.values(), *of_all.values()) if len(options) > 1)


def _one_behind_another(flips: Iterable[Flip], scripts: Sequence[Promise]) -> Iterator[dict[OpenChoice, str]]:
    """Yield two connections of an op of which the second is asked for only once there is the first."""
    for choice, _, other in flips:
        if other == LINKED:
            for script in scripts:
                behind = asked(under(script, {choice: LINKED})).keys() - asked(script).keys()
                yield from ({choice: LINKED, c: LINKED} for c in sorted(behind) if c.kind is Kind.CONNECTED and c.op == choice.op)


def _distance(promise: Promise, found: Mismatch, choice: OpenChoice, option: str, other: str) -> tuple[bool, ...]:
    """Return how unlikely it is that a choice explains a difference; of two that are compared the likelier one is less."""
    conventions = promise.info.dialect.conventions
    known = conventions.options if found.kind == "error" or not conventions.release[0] else {}
    turned = found.expected if option == REFUSED else found.actual
    is_turned = REFUSED in (option, other) and choice.kind in _refusing(turned)
    contradicts = bool(changed(promise, {choice: other}))
    is_unnamed = found.kind != "error" and choice.about.split(" ")[-1] in UNNAMED  # of which hardly anything was measured
    depends = [CUT, FORMULA, LINKED].index
    is_amiss = choice.kind is Kind.CONNECTED and found.kind != "error" and (depends(other) > depends(option)) != (found.actual in MORE)
    return is_unnamed, contradicts, not is_turned, is_amiss, choice in known, _is_deep(choice)


def _behind(scripts: Iterable[Promise], first: OpenChoice) -> Iterator[dict[OpenChoice, str]]:
    """Yield options that compute where a node refuses, and where those of the same op do that are asked behind it, if there are any.

    One node of a framework may be several here, of which the first that refuses ends the pass.
    """
    for script in scripts:
        taken = {first: COMPUTED}
        while more := {c: COMPUTED for c, o in asked(under(script, taken)).items() if c[:2] == first[:2] and o == REFUSED}:
            taken |= more
        if len(taken) > 1:
            yield taken


def _answer(script: Promise) -> str:
    """Say what the last step of a script answers: that it is computed, or as what it is refused."""
    seen = script.outcome.observations[-1]
    return str(seen.category) if isinstance(seen, Raised) else COMPUTED


def _is_deep(choice: OpenChoice) -> bool:
    """Whether a choice is about what the derivatives of an op are connected to, that is about the formulas that these are made of."""
    return choice.kind is Kind.CONNECTED and choice.about.startswith(ORDER)


def _kinds(found: Mismatch) -> set[Kind]:
    """Return the kinds of choices that could explain a difference."""
    if found.kind in ("absence", "flag", "events") or _is_overwritten_by_zeros(found):
        return {Kind.CONNECTED}
    if found.kind != "error":
        return set()
    words = {found.expected, found.actual}
    kinds = {kind for word in words for kind in _refusing(word)}
    return kinds | ({Kind.CONNECTED} if not words.isdisjoint(CONNECTIONS) else set())


def _is_overwritten_by_zeros(found: Mismatch) -> bool:
    """Whether a ``.grad`` is all zeros: a derivative that vanishes replaces what is retained, unless it is absent."""
    got = found.actual_array
    return (found.kind, found.where) == ("value", "grad") and got is not None and not got.any()


def _kinds_at(promise: Promise, found: Mismatch) -> set[Kind]:
    """Return the kinds of choices that could explain a difference where it is: which node refuses first decides what was reached."""
    seen = None if found.step is END else promise.outcome.observations[found.step]
    reached = found.kind in ("absence", "events") or (found.kind, found.where) == ("value", "grad")
    refusing = _refusing(str(seen.category)) if reached and isinstance(seen, Raised) else ()
    return {*_kinds(found), *refusing}


def _refusing(word: str) -> tuple[Kind, ...]:
    """Return the kind of choice that is to refuse where this is said, if there is one."""
    return (Kind.ALLOWED,) if word in MINDED else (REFUSALS[word],) if word in REFUSALS else ()
