"""Shrinking: delta debugging of a failing case, down to one that a person can check by hand.

A drawn case has dozens of steps, of which a failure needs a few. A pass proposes smaller cases by the edits of
`conformance.case.rewrite`: a step dropped, a value cut into an input, a parameter left unset, numbers made plainer. In each round the
candidates of all passes are judged, and the smallest that fails with the same fingerprint is kept, so that no other fault takes the
place of the first; the rounds end where none does. The candidates of a round run in a worker process, so a case that takes the process
down is shrunk the same way as any other.

What fails only after other cases of its process is shrunk with them, as a sequence: first there are fewer, then they are smaller. Each
candidate then has a process of its own, or one would be the history of the next.

The idea is that of A. Zeller and R. Hildebrandt, "Simplifying and isolating failure-inducing input", IEEE Transactions on Software
Engineering 28 (2002).
"""

from __future__ import annotations

import functools
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np

from conformance.backends.reference import reference
from conformance.campaign.chunk import chunk_of
from conformance.campaign.explain import run_after
from conformance.campaign.pool import CALL_TIMEOUT
from conformance.case.case import Case, Input, data_of, input_of
from conformance.case.files import CaseError, check
from conformance.case.outcome import Computed
from conformance.case.queries import ops_in
from conformance.case.rewrite import (
    bypass_inside,
    cut,
    in_dtype,
    prune,
    replace_step,
    with_inputs,
    with_steps,
    without_asked,
    without_constant,
    without_constants,
    without_root,
    without_seed,
    without_seeds,
)
from conformance.case.steps import Backward, Call, Custom, Grad, Op
from conformance.ops.dtypes import SINGLE
from reference_impl import TORCH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.campaign.fingerprint import Fingerprint
    from conformance.campaign.pool import Workers
    from conformance.case.steps import Step
    from conformance.laws.judging import Judging

ROUNDS = 60
"""At most; each costs a worker's time for some tens of candidates."""
SECONDS = 20.0
"""After which a case is left as large as it is, unless more are granted: one whose candidates hang would take hours."""
FEW = 3
"""Of more cases none is made smaller before there are fewer."""
FEWER = "drop earlier cases"
AT_ONCE = 8
"""How many candidates a worker gets at once."""


class ShrinkResult(NamedTuple):
    """The smallest cases that were found, and in how many rounds each pass made them smaller, by its words.

    The last of ``cases`` is the one that fails; those before it run before it, in its process.
    """

    cases: tuple[Case, ...]
    rounds: dict[str, int]

    @property
    def case(self) -> Case:
        """The case that fails."""
        return self.cases[-1]


def shrink_case(
    workers: Workers, case: Case, fingerprint: Fingerprint, judging: Judging, seconds: float = SECONDS, before: tuple[Case, ...] = ()
) -> ShrinkResult:
    """Shrink a case that fails with this fingerprint, as long as it fails with the same and ``seconds`` are not spent.

    ``before``: the cases that must run before it, in the same process.
    """
    until = time.monotonic() + seconds
    rounds: Counter[str] = Counter()
    cases = (*before, case)
    for _ in range(ROUNDS):
        smallest = _smallest_failing(workers, cases, fingerprint, fingerprint.judging(judging), until)
        if smallest is None:
            break
        cases = smallest.cases
        rounds[smallest.words] += 1
    return ShrinkResult(cases, dict(rounds))


class _Candidate(NamedTuple):
    words: str
    cases: tuple[Case, ...]


def _smallest_failing(
    workers: Workers, cases: tuple[Case, ...], fingerprint: Fingerprint, judging: Judging, until: float
) -> _Candidate | None:
    """Return the smallest candidate that fails, if one is smaller than the cases; they are asked in the order of their size."""
    fit = (c for c in _candidates(cases) if not fingerprint.op or fingerprint.op in ops_in(c.cases[-1]))
    ordered = sorted(((_size(c.cases), n, c) for n, c in enumerate(fit)), key=lambda item: item[:2])
    smaller = [candidate for size, _, candidate in ordered if size < _size(cases)]
    at_once = AT_ONCE * workers.jobs
    for start in range(0, len(smaller), at_once):
        if time.monotonic() > until:
            return None
        some = smaller[start : start + at_once]
        for candidate, failed in zip(some, _fail(workers, [c.cases for c in some], fingerprint, judging, until), strict=True):
            if failed:
                return candidate
    return None


def _fail(workers: Workers, sequences: list[tuple[Case, ...]], fingerprint: Fingerprint, judging: Judging, until: float) -> list[bool]:
    """Say of each sequence whether its last case fails with the fingerprint; none is started after ``until``."""
    if all(len(cases) == 1 for cases in sequences):
        return _fail_alone(workers, [cases[-1] for cases in sequences], fingerprint, judging, until)
    return [fails_after(workers, cases, fingerprint, judging) if time.monotonic() <= until else False for cases in sequences]


def fails_after(workers: Workers, cases: tuple[Case, ...], fingerprint: Fingerprint, judging: Judging) -> bool:
    """Whether the last of some cases fails with the fingerprint, after the others in one fresh process."""
    *before, case = cases
    patience = judging.timeout * (1 + len(before))
    record = workers.call(run_after, before, case, fingerprint.backend, judging, timeout=min(patience, CALL_TIMEOUT))
    return record is not None and fingerprint.is_shown_by(record.verdicts[fingerprint.backend])


def _fail_alone(workers: Workers, cases: list[Case], fingerprint: Fingerprint, judging: Judging, until: float) -> list[bool]:
    """Say of each case whether it fails with the fingerprint; all workers are dealt some, and none is started after ``until``."""
    backend = fingerprint.backend
    with tempfile.TemporaryDirectory() as folder:
        hands = [cases[i :: workers.jobs] for i in range(workers.jobs)]
        chunks = [replace(chunk_of(hand, (backend,), folder, judging), name=f"hand {i}", until=until) for i, hand in enumerate(hands)]
        failing = {
            (hand, record.index)
            for hand, records in enumerate(workers.run(chunks))
            for record in records
            if fingerprint.is_shown_by(record.verdicts[backend])
        }
    return [(i % workers.jobs, i // workers.jobs) in failing for i in range(len(cases))]


def _size(cases: tuple[Case, ...]) -> tuple[int, ...]:
    return len(cases), *map(sum, zip(*map(size_of, cases), strict=True))


@functools.lru_cache(maxsize=4096)
def size_of(case: Case) -> tuple[int, int, int, int]:
    """Order cases by how much there is to read."""
    numbers = sum(len(i.data) for i in case.inputs)
    digits = sum(len(repr(x)) for i in case.inputs for x in i.data)
    return len(case.steps), len(case.inputs), numbers, len(msgspec.json.encode(case)) + digits


def _valid(case: Case) -> bool:
    try:
        check(case)
    except CaseError:
        return False
    return bool(case.steps)


def _candidates(cases: tuple[Case, ...]) -> Iterator[_Candidate]:
    *before, case = cases
    yield from (_Candidate(FEWER, (*kept, case)) for kept in _fewer(tuple(before)))
    for place in range(len(cases)) if len(cases) <= FEW else ():
        for one in PASSES:
            smaller = filter(_valid, one.candidates(cases[place]))
            yield from (_Candidate(one.words, (*cases[:place], other, *cases[place + 1 :])) for other in smaller)


def _fewer(before: tuple[Case, ...]) -> Iterator[tuple[Case, ...]]:
    """Keep none, then a run of cases, and leave out a run, from one case to half of them."""
    if not before:
        return
    yield ()
    width = 1
    while width <= max(1, len(before) // 2):
        for start in range(0, len(before), width):
            yield before[start : start + width]
            yield (*before[:start], *before[start + width :])
        width *= 2


def _dropped(case: Case) -> Iterator[Case]:
    """Drop all steps behind one, or one and what needs it."""
    for number in range(len(case.steps)):
        yield prune(with_steps(case, case.steps[: number + 1]))
        yield prune(replace_step(case, number))


def _cuts(case: Case) -> Iterator[Case]:
    """Replace the result of an op by an input with the same elements."""
    outcome = reference(TORCH, {}).run(case)
    for number, step in enumerate(case.steps):
        seen = outcome.observations[number]
        if not isinstance(step, Op) or not isinstance(seen, Computed):
            continue
        made = zip(step.results, seen.values, strict=True)
        inputs = (input_of(name, v.array, differentiable=v.requires_grad) for name, v in made if v is not None)
        yield prune(cut(case, [number], inputs))


def _unset(case: Case) -> Iterator[Case]:
    """Leave a parameter of a step at its default, shorten its lists, or take an op out of a custom function."""
    for number, step in enumerate(case.steps):
        for simpler in _simpler(step):
            yield prune(replace_step(case, number, simpler))


def _simpler(step: Step) -> Iterator[Step]:
    replace = msgspec.structs.replace
    if getattr(step, "no_grad", False):
        yield replace(step, no_grad=False)
    if isinstance(step, Custom):
        yield from _simpler_custom(step)
    if isinstance(step, Grad | Backward):
        yield from _simpler_pass(step)
    if isinstance(step, Call):
        for i in range(len(step.asked or ()) if len(step.asked or ()) > 1 else 0):
            yield without_asked(step, i)
        if step.constants is not None:
            yield without_constants(step)
            for i in range(len(step.constants) if len(step.constants) > 1 else 0):
                yield without_constant(step, i)
    if isinstance(step, Grad) and step.allow_unused is not None:
        yield replace(step, allow_unused=None)


def _simpler_pass(call: Grad | Backward) -> Iterator[Step]:
    """Leave out a flag, a seed or a root."""
    if call.retain_graph is not None:
        yield msgspec.structs.replace(call, retain_graph=None)
    if call.create_graph:
        yield msgspec.structs.replace(call, create_graph=False)
    if call.seeds is not None:
        yield without_seeds(call)
        for i in range(len(call.seeds)):
            yield without_seed(call, i)
    for i in range(len(call.roots) if len(call.roots) > 1 else 0):
        yield without_root(call, i)


def _simpler_custom(step: Custom) -> Iterator[Custom]:
    """Leave out an op inside, its first operand in the place of its result; or leave something unsaved."""
    for op in (*step.forward, *step.backward):
        yield bypass_inside(step, op)
    for i in range(len(step.saved)):
        yield msgspec.structs.replace(step, saved=step.saved[:i] + step.saved[i + 1 :])


def _plainer(case: Case) -> Iterator[Case]:
    """Make an input a constant, or contiguous, give it single precision, or numbers with fewer digits."""
    for number, input_ in enumerate(case.inputs):
        array = input_.array()
        forms = [
            msgspec.structs.replace(input_, differentiable=False),
            msgspec.structs.replace(input_, strided=msgspec.UNSET),
            in_dtype(input_, SINGLE),
            _with_data(input_, np.rint(array)),
            _with_data(input_, np.arange(1, array.size + 1, dtype=array.dtype).reshape(array.shape)),
            _with_data(input_, np.ones_like(array)),
        ]
        for form in forms:
            if form != input_:
                yield with_inputs(case, (*case.inputs[:number], form, *case.inputs[number + 1 :]))


def _with_data(input_: Input, array: Any) -> Input:
    """Give an input other elements if they are shorter to read, else those that it has."""
    new = msgspec.structs.replace(input_, data=data_of(array))
    return new if _digits(new) < _digits(input_) else input_


def _digits(input_: Input) -> int:
    """Count the digits of an input's elements; a fraction counts one more than a whole number."""
    numbers = [x for element in input_.data for x in (element if isinstance(element, tuple) else (element,))]
    return sum(len(f"{x:g}" if isinstance(x, float) else x) + (x % 1 != 0 if isinstance(x, float) else 0) for x in numbers)


@dataclass(frozen=True, slots=True)
class Pass:
    """One way to make cases smaller: its words, in which a finding counts the rounds that it won, and the cases that it proposes."""

    words: str
    candidates: Callable[[Case], Iterator[Case]]


PASSES = (
    Pass("drop steps", _dropped),
    Pass("cut values", _cuts),
    Pass("unset parameters", _unset),
    Pass("make inputs plainer", _plainer),
)
"""Of equally small candidates that of the first pass is kept."""
