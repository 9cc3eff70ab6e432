"""Match mismatches against the known deviations, and recognise numbers that are undefined.

Undefined are numbers that 0 · inf or a comparison with NaN decides: nobody promises them, so no engine can be blamed for one.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import msgspec

from conformance.case.outcome import Computed, Raised
from conformance.case.place import END
from conformance.case.rewrite import with_steps
from conformance.case.steps import Call, results
from conformance.compare.compare import Comparer
from conformance.compare.kinks import SUBGRADIENT, SecondLook, agrees_on_a_reachable_branch
from conformance.deviations.answers import answers, values_at_place
from conformance.deviations.asked import ASKED, tensor_of
from conformance.deviations.counterfactuals.rules import RULES
from conformance.deviations.counterfactuals.scripts import COUNTERFACTUALS
from conformance.deviations.counterfactuals.variants import variants
from conformance.deviations.elements import ANOTHER_FORM, ELEMENT_TESTS, OFF
from conformance.deviations.entries import LAW, about, known
from conformance.deviations.presence import changes_of
from conformance.deviations.wrong_values import SINGLE_ROUNDINGS, bear_together, bears, in_form, is_right_but_for_its_form

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from conformance.backends import BackendInfo
    from conformance.case.case import Case
    from conformance.case.outcome import Observation
    from conformance.compare.comparison import Known
    from conformance.compare.mismatch import Mismatch
    from conformance.compare.promise import Promise
    from conformance.deviations.entries import Deviation

PREDICTING = {*RULES, *COUNTERFACTUALS, *ELEMENT_TESTS, *OFF, *SINGLE_ROUNDINGS}
"""Signatures that say what numbers are, alone or beside another entry's."""
MUTATION = "mutation"
"""The kind of a difference in tensors that nothing may change."""
DEEPEST = 3
"""So many entries at most stand in the answer of another one, each in that of the one before; one more takes three times as long."""
UNDEFINED = "undefined"
"""Stands for the entry where a number is undefined, see `SecondLook.is_undefined`."""


class Within(NamedTuple):
    """In whose answers a difference stands: the entries, which explain nothing more in it, and where they leave something open."""

    entries: tuple[Deviation, ...] = ()
    places: tuple[tuple[Deviation, Case, int], ...] = ()

    def more(self, entry: Deviation, *place: tuple[Deviation, Case, int]) -> Within:
        """Return what is so in the answer of one more entry, which may leave something open at a ``place``."""
        return Within((*self.entries, entry), (*self.places, *place))

    def leaves_open(self, differs: Mismatch, info: BackendInfo) -> bool:
        """Whether some entry lets its answer differ there."""
        return any(_leaves_open(entry, info, case, number, differs) for entry, case, number in self.places)

    @property
    def key(self) -> tuple[object, ...]:
        """What is the same for the same entries at the same places."""
        return *(entry.id for entry in self.entries), *((entry.id, case.id, number) for entry, case, number in self.places)


ALONE = Within()
"""A difference that stands in no entry's answer."""


def explain(promise: Promise, mismatch: Mismatch) -> Deviation | None:
    """Return the entry that explains a mismatch, or ``None``: the first that describes it and whose signature it bears.

    Wrong numbers may bear the signatures of two entries together, where rules are wrong and something else is: then it is the first of
    them, and of a tensor that was changed the one that says how.
    """
    return _explain(promise, SecondLook(promise, mismatch))


_told: WeakKeyDictionary[Promise, dict[tuple[object, ...], tuple[Mismatch, Deviation | None]]] = WeakKeyDictionary()
"""What explains a difference from a promise, by that and by where it stands: entries ask for the same in one another's answers."""


def _explain(promise: Promise, look: SecondLook, within: Within = ALONE) -> Deviation | None:
    found = look.mismatch
    if len(within.entries) > DEEPEST:
        return None
    if not promise.is_of_now:
        return _first(promise, look, within)
    told = _told.setdefault(promise, {})
    key = found, found.tainted, *map(id, (found.expected_array, found.actual_array, found.answer)), within.key
    if key not in told:
        told[key] = found, _first(promise, look, within)  # which keeps what the key has numbers of
    return told[key][1]


def _first(promise: Promise, look: SecondLook, within: Within) -> Deviation | None:
    """Return the first entry that explains a difference."""
    found = look.mismatch
    entries = [entry for entry in about(promise.info, found.kind) if entry not in within.entries]
    described = (entry for entry in entries if _describes(entry, promise, look))
    bearing = (
        e
        for e in described
        if bears(e, promise, found)
        or _bears_in_a_known_dtype(e, promise, found, within)
        or _has_known_numbers(e, promise, found, within)
    )
    alone = next((entry for entry in bearing if _answers(entry, promise, found, within)), None)
    if alone is not None or found.kind not in ("value", MUTATION):
        return alone
    possible = [entry for entry in entries if _describes(entry, promise, look)]
    if found.kind == MUTATION:
        return next((entry for entry in possible if _bears_in_other_answers(entry, promise, found)), None)
    pairs = itertools.combinations([entry for entry in possible if not PREDICTING.isdisjoint(entry.signature)], 2)
    return next((one for one, other in pairs if bear_together(one, other, promise, found)), None)


def _bears_in_other_answers(entry: Deviation, promise: Promise, found: Mismatch) -> bool:
    """Whether what was changed holds what an entry says, if the gradients are those that are known to be wrong by another one.

    That one says so by rules, or by scripts of the call that changed it. Or it says so of any call, by the scripts that have its
    answer, since a later call may start from the gradient that it gave; then rules have to predict what was changed, number by number.
    """
    calls = [number for number, step in enumerate(promise.case.steps) if isinstance(step, Call)]
    others = [other for other in about(promise.info, "value") if any(other.holds(promise.case, number) for number in calls)]
    for change in itertools.chain.from_iterable(map(changes_of, others)):
        with promise.under(change) as changed:
            if bears(entry, changed, found):
                return True
    scripts = itertools.chain.from_iterable(variants(other.signature, promise.case, found.step, other.above) for other in others)
    if any(bears(entry, promise.of(case), replace(found, step=number)) for case, number in scripts):
        return True
    ruled = msgspec.structs.replace(entry, signature=tuple(words for words in entry.signature if words in RULES))
    calling = [other for other in about(promise.info, "events") if other.instead] if ruled.signature else []
    answering = (_answering(other, promise.case, number) for other in calling for number in calls if other.holds(promise.case, number))
    return any(bears(ruled, promise.of(case), replace(found, step=number)) for case, number in itertools.chain.from_iterable(answering))


def _answering(entry: Deviation, case: Case, number: int) -> Iterator[tuple[Case, int]]:
    """Yield the scripts of which a call has the answer that an entry says, and the number of the last call in each."""
    for other, _ in variants(entry.instead, case, number, entry.above):
        yield other, max(i for i, step in enumerate(other.steps) if isinstance(step, Call))


def _bears_in_a_known_dtype(entry: Deviation, promise: Promise, found: Mismatch, within: Within) -> bool:
    """Whether what came where nothing is promised has the numbers of an entry's script, in a dtype that is known to be wrong there."""
    got = found.actual_array
    if found.kind != "absence" or got is None:
        return False
    for case, number in variants(entry.signature, promise.case, found.step, entry.above):
        variant = promise.of(case)
        predicted = [(slot, value.array) for slot, value in values_at_place(variant, number, found) if value is not None]
        for slot, array in ((slot, array) for slot, array in predicted if array.shape == got.shape and array.dtype != got.dtype):
            dtype, other = str(array.dtype), str(got.dtype)
            there = replace(found, step=number, kind="dtype", slot=slot, expected=dtype, actual=other, expected_array=array)
            if is_right_but_for_its_form(variant, there) and excuse(variant, within.more(entry))(there):
                return True
    return False


def _has_known_numbers(entry: Deviation, promise: Promise, found: Mismatch, within: Within) -> bool:
    """Whether the numbers of a gradient in another dtype are known to be wrong as well, by an entry that says what they are.

    Or nobody can say what they are.
    """
    if found.kind != "dtype" or ANOTHER_FORM not in entry.signature:
        return False
    numbers = replace(found, kind="value", expected="right", actual="wrong", actual_array=in_form(found))
    if within.leaves_open(numbers, promise.info):
        return True
    other = _explain(promise, SecondLook(promise, numbers), within.more(entry))
    return other is not None and not other.unpredictable


def _answers(entry: Deviation, promise: Promise, found: Mismatch, within: Within) -> bool:
    """Whether a step that is refused otherwise than promised, or calls otherwise, has the answer that its entry says.

    That is what the reference answers for a counterfactual script, or by counterfactual rules, except where that is known to be wrong,
    by other entries: entries of that script, or of the case itself, where the script no longer has what they ask for. What no document
    settles explains no more than that: with a broken promise beside it, it is that promise that is broken. What an entry leaves open is
    so in the answers of those that stand in its own, too.
    """
    if not entry.instead:
        return True
    if found.kind == LAW:
        return False  # two answers of one engine differ, of which it alone can be asked: see `conformance.laws.known`
    if found.answer is None or found.step is END:
        return True
    answer = _without_promised_state(promise, found.step, found.answer)

    inside = within.more(entry, (entry, promise.case, found.step))
    known_here = _excuse_beside(entry, promise, inside)
    asked = results(promise.case.steps[found.step])

    def known_of_case(differs: Mismatch, number: int) -> bool:
        """Whether it is known of the case itself; a script that has more steps may have more tensors that accumulate, too."""
        if number == found.step:
            return known_here(differs) is not None
        there = replace(differs, step=found.step, answer=found.answer)
        return differs.where != "grad" and known_here(there) is not None

    def has_answer(variant: Promise, number: int) -> bool:
        right = variant.outcome.observations[number]
        if isinstance(right, Computed) and isinstance(answer, Computed) and len(right.values) != len(answer.values):
            if len(asked) != len(answer.values) or asked != results(variant.case.steps[number])[: len(asked)]:
                return False  # the script asks for others, or for less
            right = replace(right, values=right.values[: len(asked)])
        seen = _as_watched(answer, promise.case, variant.case, right, found.tainted)
        comparer, known_there = Comparer(variant), _excuse_beside(entry, variant, inside)
        differing = (d for d in comparer.observation(number, right, seen) if not inside.leaves_open(d, promise.info))
        if all(known_there(d) or known_of_case(d, number) for d in differing):
            return True
        return comparer.result.near_kink and _agrees_elsewhere(
            variant, number, seen, lambda there: _excuse_beside(entry, there, inside)
        )

    if any(has_answer(promise.of(case), number) for case, number in _instead(entry, promise.case, found.step)):
        return True
    for change in itertools.chain.from_iterable(RULES[words](entry.above) for words in entry.instead if words in RULES):
        with promise.under(change) as changed:
            if has_answer(changed, found.step):
                return True
    return False


def _leaves_open(entry: Deviation, info: BackendInfo, case: Case, number: int, differs: Mismatch) -> bool:
    """Whether an entry lets an answer differ from what it says: by a flag that it describes itself, or by numbers that nobody can say.

    Those are the numbers of a tensor that it names, or what hooks are given.
    """
    there = replace(differs, step=number)
    if differs.kind == "flag":
        return entry.matches(info, case, there)
    if not entry.unpredictable or not entry.only or differs.kind not in ("value", "shape"):
        return False
    return differs.where == "event" or ASKED[entry.only](case, number, tensor_of(case, there))


def _excuse_beside(entry: Deviation, promise: Promise, inside: Within) -> Known:
    """Return what may differ from the answer that an entry says; beside one that breaks no promise, nothing that breaks one."""
    known_here = excuse(promise, inside)
    if not entry.unpromised:
        return known_here
    harmless = {other.id for other in known() if other.unpromised} | {UNDEFINED}
    return lambda found: name if (name := known_here(found)) in harmless else None


def _agrees_elsewhere(variant: Promise, number: int, answer: Observation, excused: Callable[[Promise], Known]) -> bool:
    """Whether a script that ends with a step has this answer there on another branch that rounding can reach."""
    ended = variant.of(with_steps(variant.case, variant.case.steps[: number + 1]))
    left = answer.state if isinstance(answer, Computed | Raised) else None
    final = ended.outcome.final if left is None else left
    actual = replace(ended.outcome, observations=[*ended.outcome.observations[:-1], answer], final=final)
    return agrees_on_a_reachable_branch(ended, actual, excused) is True


def _instead(entry: Deviation, case: Case, number: int) -> Iterator[tuple[Case, int]]:
    """Yield the scripts of which a step has the answer that an entry says, and the number that the step has there."""
    for other, moved in variants(entry.instead, case, number, entry.above):
        if moved is not END:
            yield other, moved


def scripts_instead(promise: Promise, found: Mismatch) -> Iterator[Case]:
    """Yield scripts of which a step may have the answer, by the entries that describe a difference there; each ends with the step."""
    if found.step is not END:
        for entry in about(promise.info, found.kind):
            if entry.instead and entry.matches(promise.info, promise.case, found):
                for case, number in _instead(entry, promise.case, found.step):
                    yield with_steps(case, case.steps[: number + 1])


def _as_watched(answer: Observation, case: Case, other: Case, right: Observation, tainted: Collection[str]) -> Observation:
    """Say what was left in ``.grad`` by what another script watches.

    Of what was not watched nothing is known, and of what is ``tainted`` nothing can be said: so that is right.
    """
    if not isinstance(answer, Computed | Raised) or not isinstance(right, Computed | Raised):
        return answer
    if answer.state is None or right.state is None or (case.watched == other.watched and not tainted):
        return answer
    seen = {name: value for name, value in zip(case.watched, answer.state, strict=True) if name not in tainted}
    return replace(answer, state=tuple(seen.get(name, value) for name, value in zip(other.watched, right.state, strict=True)))


def _without_promised_state(promise: Promise, number: int, answer: Observation) -> Observation:
    """Leave out what a step left in ``.grad``, where that is what is promised: a call that is not refused need not have any effect."""
    promised = promise.outcome.observations[number]
    if not isinstance(answer, Computed) or not isinstance(promised, Raised):
        return answer
    changed = any(Comparer(promise).observation(number, promised, Raised(promised.category, "", answer.state, promised.events)))
    return answer if changed else replace(answer, state=None)


def _describes(entry: Deviation, promise: Promise, look: SecondLook) -> bool:
    found = look.mismatch
    if entry.matches(promise.info, promise.case, found):
        return True
    if found.kind != "value" or SUBGRADIENT not in entry.actual:
        return False
    return entry.matches(promise.info, promise.case, replace(found, actual=SUBGRADIENT)) and look.is_subgradient


def excuse(promise: Promise, within: Within = ALONE) -> Known:
    """Return what the comparison of a case goes on after: known deviations, by entry, and numbers that are undefined.

    ``within``: the entries in whose answers it stands, which are not among them.
    """

    def excused(found: Mismatch) -> str | None:
        look = SecondLook(promise, found)
        entry = _explain(promise, look, within)
        if entry is not None:
            return entry.id
        if found.kind != "value" or promise.finite:
            return None
        if look.is_undefined:
            return UNDEFINED
        possible = (e for e in about(promise.info, found.kind) if e not in within.entries and _describes(e, promise, look))
        return next((e.id for e in possible if _leaves_undefined(e, promise, found)), None)

    return excused


def _leaves_undefined(entry: Deviation, promise: Promise, found: Mismatch) -> bool:
    """Whether by the rules of an entry all that differs is undefined: it explains some elements of a number, and others nobody does."""
    for change in changes_of(entry):
        with promise.under(change) as changed:
            told = (replace(found, slot=slot, expected_array=array) for slot, array in answers(changed, found.step, found))
            if any(SecondLook(changed, one).is_undefined for one in told):
                return True
    return False
