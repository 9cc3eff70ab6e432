"""Reduction: from a failing case to one that a person can check by hand.

Candidates are smaller cases (a step dropped, a value cut into an input, a parameter left unset, numbers rounded); one is kept if it
fails with the same signature. A round of candidates runs in a worker process, so a case that takes the process down is reduced the
same way as any other.
"""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from conformance.backends.reference import reference
from conformance.campaign.worker import Chunk
from conformance.case import Case, CaseError, Input, check, data_of
from conformance.generate.scripts import Plan
from conformance.laws.judging import NONE
from conformance.laws.registry import LAWS
from conformance.ops.kinds import SINGLE
from conformance.outcome import Computed
from conformance.signature import Signature, signature_of
from conformance.steps import Backward, Custom, Grad, Op, Step, results, uses
from reference_impl import TORCH

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.campaign.pool import Workers

ROUNDS = 60


def reduce_case(workers: Workers, case: Case, signature: Signature, backend: str, timeout: float, *, alone: bool = False) -> Case:
    """Return the smallest case found that fails on ``backend`` with the same signature; ``alone``: laws alone judge."""
    for _ in range(ROUNDS):
        candidates = [c for c in _candidates(case) if _valid(c)]
        smaller = next(iter(_kept(workers, candidates, signature, backend, timeout, alone)), None)
        if smaller is None or size_of(smaller) >= size_of(case):
            return case
        case = smaller
    return case


def _kept(workers: Workers, candidates: list[Case], signature: Signature, backend: str, timeout: float, alone: bool) -> list[Case]:
    if not candidates:
        return []
    with tempfile.TemporaryDirectory() as folder:
        laws = signature.where if signature.where in LAWS else NONE
        cases = tuple(candidates)
        chunk = Chunk(0, 0, len(cases), Plan(), (backend,), folder, timeout, cases, name="reduce", laws=laws, alone=alone)
        records = next(iter(workers.run([chunk])))
    kept = [candidates[r["index"]] for r in records if signature_of(signature.backend, r["verdicts"][signature.backend]) == signature]
    return sorted(kept, key=size_of)


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


def _candidates(case: Case) -> Iterator[Case]:
    for number in range(len(case.steps)):
        yield _without(case, case.steps[: number + 1])
        yield _without(case, case.steps[:number] + case.steps[number + 1 :])
    yield from _cuts(case)
    for number, step in enumerate(case.steps):
        for simpler in _simpler(step):
            yield _without(case, (*case.steps[:number], simpler, *case.steps[number + 1 :]))
    yield from _simpler_inputs(case)


def _without(case: Case, steps: tuple[Step, ...], inputs: tuple[Input, ...] | None = None) -> Case:
    """Keep the steps that still have what they need, and the inputs that are used."""
    made = {i.name for i in (inputs or case.inputs)}
    kept: list[Step] = []
    for step in steps:
        if all(name in made for _, name in uses(step)):
            kept.append(step)
            made.update(results(step))
    used = {name for step in kept for _, name in uses(step)}
    return Case(tuple(i for i in (inputs or case.inputs) if i.name in used), tuple(kept), case.lane)


def _cuts(case: Case) -> Iterator[Case]:
    """Replace the result of an op by an input with the same elements."""
    outcome = reference(TORCH, {}).run(case)
    for number, step in enumerate(case.steps):
        seen = outcome.observations[number]
        if not isinstance(step, Op) or not isinstance(seen, Computed):
            continue
        made = tuple(
            Input(name, v.array.shape, data_of(v.array), str(v.array.dtype), v.requires_grad)
            for name, v in zip(step.results, seen.values, strict=True)
            if v is not None
        )
        yield _without(case, case.steps[:number] + case.steps[number + 1 :], case.inputs + made)


def _simpler(step: Step) -> Iterator[Step]:
    replace = msgspec.structs.replace
    if getattr(step, "no_grad", False):
        yield replace(step, no_grad=False)
    if isinstance(step, Custom):
        yield from _simpler_custom(step)
    if not isinstance(step, Grad | Backward):
        return
    if step.retain_graph is not None:
        yield replace(step, retain_graph=None)
    if step.create_graph:
        yield replace(step, create_graph=False)
    roots, seeds = ("outputs", "grad_outputs") if isinstance(step, Grad) else ("tensors", "grad_tensors")
    given = getattr(step, seeds)
    if given is not None:
        yield replace(step, **{seeds: None})
        for i in range(len(given)):
            yield replace(step, **{seeds: given[:i] + given[i + 1 :]})
    names = getattr(step, roots)
    for i in range(len(names) if len(names) > 1 else 0):
        fewer: dict[str, Any] = {roots: names[:i] + names[i + 1 :]}
        if given is not None and len(given) == len(names):
            fewer[seeds] = given[:i] + given[i + 1 :]
        yield replace(step, **fewer)
    if step.inputs is not None:
        for i in range(len(step.inputs) if len(step.inputs) > 1 else 0):
            fewer = {"inputs": step.inputs[:i] + step.inputs[i + 1 :]}
            if isinstance(step, Grad):
                fewer["results"] = step.results[:i] + step.results[i + 1 :]
            yield replace(step, **fewer)
    if isinstance(step, Grad):
        if step.allow_unused is not None:
            yield replace(step, allow_unused=None)
        if step.no_grad_vars is not None:
            yield replace(step, no_grad_vars=None)
            for i in range(len(step.no_grad_vars) if len(step.no_grad_vars) > 1 else 0):
                yield replace(step, no_grad_vars=step.no_grad_vars[:i] + step.no_grad_vars[i + 1 :])


def _simpler_custom(step: Custom) -> Iterator[Custom]:
    """Leave out an op inside, its first operand in the place of its result; or leave something unsaved."""
    replace = msgspec.structs.replace
    for field in ("forward", "backward"):
        held: tuple[Op, ...] = getattr(step, field)
        for op in held:
            instead = dict.fromkeys(op.results, op.operands[0])
            inside = {
                name: tuple(replace(o, operands=_renamed(o.operands, instead)) for o in getattr(step, name) if o is not op)
                for name in ("forward", "backward")
            }
            saved = tuple(dict.fromkeys(_renamed(step.saved, instead)))
            gradients = tuple(instead.get(name, name) if name else None for name in step.gradients)
            yield replace(step, **inside, outputs=_renamed(step.outputs, instead), saved=saved, gradients=gradients)
    for i in range(len(step.saved)):
        yield replace(step, saved=step.saved[:i] + step.saved[i + 1 :])


def _renamed(names: tuple[str, ...], instead: dict[str, str]) -> tuple[str, ...]:
    return tuple(instead.get(name, name) for name in names)


def _simpler_inputs(case: Case) -> Iterator[Case]:
    for number, entry in enumerate(case.inputs):
        array = entry.array()
        forms = [
            msgspec.structs.replace(entry, differentiable=False) if entry.differentiable else None,
            msgspec.structs.replace(entry, dtype=SINGLE[entry.dtype]) if entry.dtype in SINGLE else None,
            _with_data(entry, np.rint(array)),
            _with_data(entry, np.arange(1, array.size + 1, dtype=array.dtype).reshape(array.shape)),
            _with_data(entry, np.ones_like(array)),
        ]
        for form in forms:
            if form is not None and form != entry:
                yield Case((*case.inputs[:number], form, *case.inputs[number + 1 :]), case.steps, case.lane)


def _with_data(entry: Input, array: Any) -> Input | None:
    new = msgspec.structs.replace(entry, data=data_of(array))
    return new if _digits(new) < _digits(entry) else None


def _digits(entry: Input) -> tuple[int, int]:
    numbers = [x for element in entry.data for x in (element if isinstance(element, tuple) else (element,))]
    return sum(len(f"{x:g}" if isinstance(x, float) else x) + (x % 1 != 0 if isinstance(x, float) else 0) for x in numbers), 0
