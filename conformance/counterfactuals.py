"""Counterfactuals: what a script would be if an engine's mistake were no mistake but written in it.

The wrong numbers of a known deviation are not arbitrary: they are what the reference predicts for another script, in which an operand
is a constant, an op is left out, a hook answers nothing. Each counterfactual yields such scripts, with the number that the step in
question has there. An entry of ``deviations.toml`` names its own as its *signature*; see `conformance.judge.signatures`.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from conformance.case import Case
from conformance.steps import AppendBackward, Backward, Custom, Detach, Edge, Grad, Hook, InPlace, Op, RetainGrad, Step, results

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Variant = tuple[Case, int]
SEEDS = ("grad_outputs", "grad_tensors")
CONSTANT = "constant_"
LITTLE = 1.0 - 2.0**-20
"""So much nearer is what `bound_nearer` makes a bound: more than a rounding of float32, and less than elements are apart."""
MOST = 64
"""How many scripts one counterfactual may yield: each costs a run of the reference."""


def operand_constant(case: Case, number: int, ops: Sequence[str]) -> Iterator[Variant]:
    """Cut operands or seeds off from the graph: one, two, or every one in the same place; of these ``ops`` if there are some."""
    places = [
        (i, field, position)
        for i, step in enumerate(_until(case, number))
        if isinstance(step, Op | Custom | Grad) and not (ops and isinstance(step, Op | Custom) and getattr(step, "op", "") not in ops)
        for field in (("operands",) if isinstance(step, Op | Custom) else SEEDS[:1])
        for position, name in enumerate(getattr(step, field) or ())
        if name is not None
    ]
    alike: dict[tuple[Any, ...], list[tuple[int, str, int]]] = {}
    for place in reversed(places):
        alike.setdefault((getattr(case.steps[place[0]], "op", ""), *place[1:]), []).append(place)
    singles = ([place] for place in reversed(places))
    pairs = (list(pair) for pair in itertools.combinations(reversed(places), 2))
    for cut in itertools.islice(itertools.chain(singles, (a for a in alike.values() if len(a) > 1), pairs), MOST):
        yield _cut(case, number, cut)


def _cut(case: Case, number: int, places: Sequence[tuple[int, str, int]]) -> Variant:
    steps: list[Step] = []
    shift = 0
    for i, step in enumerate(case.steps):
        changed = step
        for at, field, position in places:
            if at == i:
                held = getattr(changed, field)
                fresh = f"{CONSTANT}{i}_{position}"
                steps.append(Detach(held[position], (fresh,)))
                changed = msgspec.structs.replace(changed, **{field: (*held[:position], fresh, *held[position + 1 :])})
                shift += i <= number
        if i == number and isinstance(changed, Grad):
            changed = msgspec.structs.replace(changed, allow_unused=True)  # what only the cut made unreachable is no refusal
        steps.append(changed)
    return Case(case.inputs, tuple(steps), case.lane), number + shift if number >= 0 else number


def constant_tracked(case: Case, number: int, _: Sequence[str]) -> Iterator[Variant]:
    """Have a constant among the inputs require a gradient."""
    for name in [entry.name for entry in case.inputs if not entry.differentiable]:
        inputs = (msgspec.structs.replace(e, differentiable=e.differentiable or e.name == name) for e in case.inputs)
        yield Case(tuple(inputs), case.steps, case.lane), number


def op_left_out(case: Case, number: int, ops: Sequence[str]) -> Iterator[Variant]:
    """Leave out an op of one operand and one result: its operand stands for its result; one such op, or every one that may be."""
    found = [
        i
        for i, step in enumerate(_until(case, number))
        if isinstance(step, Op) and len(step.operands) == len(step.results) == 1 and (not ops or step.op in ops) and i != number
    ]
    sets = [[i] for i in reversed(found)] + [list(pair) for pair in itertools.combinations(found, 2)] + [found]
    for left_out in itertools.islice(sets, MOST):
        instead: dict[str, str] = {}
        steps = []
        for i, step in enumerate(case.steps):
            if i in left_out and isinstance(step, Op):
                instead[step.results[0]] = instead.get(step.operands[0], step.operands[0])
            else:
                steps.append(_renamed(step, instead))
        yield Case(case.inputs, tuple(steps), case.lane), number - sum(i < number for i in left_out) if number >= 0 else number


def _renamed(step: Step, instead: dict[str, str]) -> Step:
    changed: dict[str, Any] = {}
    for field in step.NAMES:
        held = getattr(step, field)
        if isinstance(held, str):
            changed[field] = instead.get(held, held)
        elif held is not None:
            changed[field] = tuple(instead.get(n, n) if n else n for n in held)
    if isinstance(step, Custom):
        for field in ("forward", "backward"):
            changed[field] = tuple(_renamed(op, instead) for op in getattr(step, field))
        for field in ("outputs", "saved"):
            changed[field] = tuple(dict.fromkeys(instead.get(n, n) for n in getattr(step, field)))
    return msgspec.structs.replace(step, **changed)


def hook_ignored(case: Case, number: int, _: Sequence[str]) -> Iterator[Variant]:
    """Have hooks answer nothing: those on one tensor, or all."""
    hooked = list(dict.fromkeys(s.tensor for s in _until(case, number) if isinstance(s, Hook)))
    for tensors in [*([name] for name in hooked), hooked]:

        def quiet(step: Step, tensors: Sequence[str] = tensors) -> Step:
            if isinstance(step, Hook) and step.tensor in tensors:
                return msgspec.structs.replace(step, returns="nothing", factor=None, tensor_returned=None)
            return step

        yield _each(case, quiet), number


def inputs_retained(case: Case, number: int, _: Sequence[str]) -> Iterator[Variant]:
    """Ask every computed input of a `backward` to retain its gradient from then on."""
    leaves = {entry.name for entry in case.inputs}
    edges = {s.results[0]: s.tensor for s in case.steps if isinstance(s, Edge)}
    steps: list[Step] = []
    shift = 0
    for i, step in enumerate(case.steps):
        steps.append(step)
        if isinstance(step, Backward):
            kept = [RetainGrad(edges.get(n, n)) for n in step.inputs or () if edges.get(n, n) not in leaves]
            steps.extend(kept)
            shift += len(kept) if i < number else 0
    yield Case(case.inputs, tuple(steps), case.lane), number + shift if number >= 0 else number


def inputs_dropped(case: Case, number: int, _: Sequence[str]) -> Iterator[Variant]:
    """Take the edges of computed tensors from the inputs of every `backward`; one left without inputs is asked for a leaf."""
    leaves = {entry.name for entry in case.inputs}
    edges = {s.results[0] for s in case.steps if isinstance(s, Edge) and s.tensor not in leaves}
    others = [entry.name for entry in case.inputs if entry.differentiable]

    def without(step: Step) -> Step:
        if not isinstance(step, Backward) or edges.isdisjoint(step.inputs or ()):
            return step
        left = tuple(n for n in step.inputs or () if n not in edges)
        return msgspec.structs.replace(step, inputs=left or tuple(others[:1]))

    yield _each(case, without), number


def all_inputs(case: Case, number: int, _: Sequence[str]) -> Iterator[Variant]:
    """Have every `backward` accumulate into all leaves, not into its inputs alone; have a `grad` ask for a root, or for all leaves."""
    yield _each(case, lambda s: msgspec.structs.replace(s, inputs=None) if isinstance(s, Backward) else s), number
    call = case.steps[number]
    if number >= 0 and isinstance(call, Grad):
        leaves = tuple(entry.name for entry in case.inputs if entry.differentiable)
        kept = [msgspec.structs.replace(s, retain_graph=True) if isinstance(s, Grad) else s for s in case.steps[:number]]
        for asked in (call.outputs[:1], leaves):
            named = tuple(f"{CONSTANT}{i}" for i in range(len(asked)))
            wider = msgspec.structs.replace(call, inputs=asked, results=named, allow_unused=True)
            yield Case(case.inputs, (*kept, wider), case.lane), number


def numbers_rounded(case: Case, number: int, _: Sequence[str]) -> Iterator[Variant]:
    """Round the numbers among the attributes of ops to float32."""
    yield with_single_numbers(case), number


def with_single_numbers(case: Case) -> Case:
    """Return a case with the numbers among the attributes of its ops, in custom functions too, rounded to float32."""
    return _each(case, _in_single)


def _in_single(step: Any) -> Any:
    if isinstance(step, Custom):
        parts = {field: tuple(map(_in_single, getattr(step, field))) for field in ("forward", "backward")}
        return msgspec.structs.replace(step, **parts)
    if not isinstance(step, Op | InPlace):
        return step
    attrs = {name: float(np.float32(x)) if isinstance(x, float) else x for name, x in step.attrs.items()}
    return msgspec.structs.replace(step, attrs=attrs)


def targets_once(case: Case, number: int, _: Sequence[str]) -> Iterator[Variant]:
    """Drop one of the targets of the call, with its seed."""
    step = case.steps[number]
    if number >= 0 and isinstance(step, Grad | Backward):
        roots, seeds = ("outputs", "grad_outputs") if isinstance(step, Grad) else ("tensors", "grad_tensors")
        named, given = getattr(step, roots), getattr(step, seeds)
        for i in range(len(named) if len(named) > 1 else 0):
            left = {roots: named[:i] + named[i + 1 :], seeds: None if given is None else given[:i] + given[i + 1 :]}
            fewer: Step = msgspec.structs.replace(step, **left)
            yield Case(case.inputs, (*case.steps[:number], fewer, *case.steps[number + 1 :]), case.lane), number


def targets_not_cut(case: Case, number: int, _: Sequence[str]) -> Iterator[Variant]:
    """Take the targets of calls from what has no gradient."""

    def without(step: Step) -> Step:
        if isinstance(step, Grad) and step.no_grad_vars is not None:
            return msgspec.structs.replace(step, no_grad_vars=tuple(n for n in step.no_grad_vars if n not in step.outputs))
        if isinstance(step, AppendBackward) and step.no_grad_set is not None:
            return msgspec.structs.replace(step, no_grad_set=tuple(n for n in step.no_grad_set if n != step.loss))
        return step

    yield _each(case, without), number


def nothing_freed(case: Case, number: int, _: Sequence[str]) -> Iterator[Variant]:
    """Have every `grad` keep its graph."""
    yield _each(case, lambda s: msgspec.structs.replace(s, retain_graph=True) if isinstance(s, Grad) else s), number


def derivative_constant(case: Case, number: int, _: Sequence[str]) -> Iterator[Variant]:
    """Have a `grad` with create_graph record nothing: one, or all."""
    found = [i for i, s in enumerate(_until(case, number)) if isinstance(s, Grad) and s.create_graph and i != number]
    for chosen in [*([i] for i in found), found]:
        places = [
            (i, field, position)
            for i, step in enumerate(_until(case, number))
            for field in step.NAMES
            if isinstance(getattr(step, field), tuple) and field != "inputs"
            for position, name in enumerate(getattr(step, field))
            if any(name in results(case.steps[g]) for g in chosen) and not (i == number and field in ("outputs", "tensors"))
        ]
        if places:
            yield _cut(case, number, places)


def polar_through_result(case: Case, number: int, _: Sequence[str]) -> Iterator[Variant]:
    """Differentiate every `polar` through its result ``z``: ``Re(g conj(sgn(z)))`` and ``Im(g conj(z))``."""
    steps: list[Step] = []
    for i, step in enumerate(case.steps):
        changed: Step = step
        if isinstance(step, Op) and step.op == "polar":
            z, g, s, factor, along, size, mirrored, across, turn = (f"{CONSTANT}{i}_{k}" for k in range(9))
            in_size = (
                Op("sgn", (z,), (s,)),
                Op("conj", (s,), (factor,)),
                Op("mul", (g, factor), (along,)),
                Op("real", (along,), (size,)),
            )
            in_turn = Op("conj", (z,), (mirrored,)), Op("mul", (g, mirrored), (across,)), Op("imag", (across,), (turn,))
            forward = (msgspec.structs.replace(step, results=(z,), no_grad=False),)
            gradients = (size, turn)
            changed = Custom(step.operands, step.results, forward, (z,), (g,), gradients, (*in_size, *in_turn), (z,), step.no_grad)
        steps.append(changed)
    yield Case(case.inputs, tuple(steps), case.lane), number


def _until(case: Case, number: int) -> Sequence[Step]:
    return case.steps if number < 0 else case.steps[: number + 1]


def bound_nearer(case: Case, number: int, ops: Sequence[str]) -> Iterator[Variant]:
    """Have the ops lie beyond their bounds where they are at them: each bound is a little nearer to 0."""

    def nearer(step: Step) -> Step:
        if isinstance(step, Op) and "bound" in step.attrs and (not ops or step.op in ops):
            return msgspec.structs.replace(step, attrs={**step.attrs, "bound": step.attrs["bound"] * LITTLE})
        return step

    yield _each(case, nearer), number


def _each(case: Case, change: Callable[[Step], Step]) -> Case:
    return Case(case.inputs, tuple(change(step) for step in case.steps), case.lane)


COUNTERFACTUALS: dict[str, Callable[[Case, int, Sequence[str]], Iterator[Variant]]] = {
    "as if an operand were a constant": operand_constant,
    "as if a constant required a gradient": constant_tracked,
    "as if an op were left out": op_left_out,
    "as if a hook answered nothing": hook_ignored,
    "as if inputs were retained": inputs_retained,
    "as if computed edges were no inputs": inputs_dropped,
    "as if all inputs were asked for": all_inputs,
    "as if numbers were float32": numbers_rounded,
    "as if a target were missing": targets_once,
    "as if targets were not cut": targets_not_cut,
    "as if nothing were freed": nothing_freed,
    "as if a derivative were a constant": derivative_constant,
    "as if polar were differentiated through its result": polar_through_result,
    "as if a bound were nearer": bound_nearer,
}
"""The counterfactuals by the words that an entry uses."""

ELEMENTS = (
    "zeros",
    "nan",
    "not finite",
    "subnormal",
    "off by a rounding of 1",
    "off by roundings of float32",
    "doubled",
    "another contribution",
    "what was written to a tensor",
    "the memory of another gradient",
)
"""Signatures that need no other script: what the elements are where they differ."""
