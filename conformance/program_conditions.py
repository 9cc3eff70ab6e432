"""Named conditions on static programs, for the predicates of known deviations; see `conformance.conditions`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.backends.reference import predicted
from conformance.outcome import Computed
from conformance.reading import at, calls, input_of_several, mixed_dtypes, until
from conformance.steps import AppendBackward, Grad, Op, results, uses
from reference_impl import PADDLE_STATIC

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.case import Case


def _constants(case: Case) -> set[str]:
    """Return the names of the values of a program that nothing flows to."""
    outcome = predicted(case, PADDLE_STATIC)
    constants = {entry.name for entry in case.inputs if not entry.differentiable}
    for step, seen in zip(case.steps, outcome.observations, strict=True):
        if isinstance(seen, Computed):
            made = zip(results(step), seen.values, strict=True)
            constants.update(name for name, value in made if value is not None and not value.requires_grad)
    return constants


def constant_first_operand(case: Case, number: int) -> bool:
    """Whether the first operand of some op up to here is a constant and another is not."""
    constants = _constants(case)
    return any(
        isinstance(s, Op) and (s.op == "rdiv_scalar" or (s.operands[0] in constants and not constants.issuperset(s.operands)))
        for s in until(case, number)
    )


def constant_among_several(case: Case, number: int) -> bool:
    """Whether some op up to here joins a constant and another value."""
    constants = _constants(case)
    return any(
        isinstance(s, Op) and s.op in ("cat", "stack") and not constants.isdisjoint(s.operands) and not constants.issuperset(s.operands)
        for s in until(case, number)
    )


def constant_seed(case: Case, number: int) -> bool:
    """Whether a seed of some call up to here is a constant."""
    constants = _constants(case)
    return any(not constants.isdisjoint(given or ()) for _, given, _ in calls(until(case, number)))


def targets_coincide(case: Case, number: int) -> bool:
    """Whether two targets of a call are one variable.

    That is the same name, two derivatives in one variable, or a seed and the derivative of a target in itself.
    """
    same: dict[str, str] = {}
    for roots, given, step in calls(until(case, number)):
        if isinstance(step, Grad):
            seeds = dict(zip(roots, given or (), strict=False))
            for name, made in zip(step.inputs, step.results, strict=True):
                seed = seeds.get(name)
                twin = step.results[step.inputs.index(name)] if seed is None else seed
                same[made] = same.get(twin, twin)
    return any(len({same.get(n, n) for n in roots}) < len(roots) for roots, _, _ in calls(at(case, number)))


def target_without_gradient(case: Case, number: int) -> bool:
    """Whether a call counts one of its own targets among what has no gradient."""
    return any(
        (isinstance(s, Grad) and not set(s.outputs).isdisjoint(s.no_grad_vars or ()))
        or (isinstance(s, AppendBackward) and s.loss in (s.no_grad_set or ()))
        for s in at(case, number)
    )


def later_input_of_several(case: Case, number: int) -> bool:
    """Whether a call up to here asks for the gradient of a result of an op with several results."""
    return any(input_of_several(case, n) for n, _ in enumerate(until(case, number)))


def target_above_target(case: Case, number: int) -> bool:
    """Whether a target of a call was computed from another."""
    above: dict[str, set[str]] = {}
    for step in until(case, number):
        used = {name for _, name in uses(step)}
        above.update((name, used.union(*(above.get(n, set()) for n in used))) for name in results(step))
    return any(not above.get(n, set()).isdisjoint(roots) for roots, _, _ in calls(at(case, number)) for n in roots)


def loss_of_several(case: Case, number: int) -> bool:
    """Whether the loss of a backward part does not have one element."""
    outcome = predicted(case, PADDLE_STATIC)
    sizes = {entry.name: len(entry.data) for entry in case.inputs}
    for step, seen in zip(case.steps, outcome.observations, strict=True):
        if isinstance(seen, Computed):
            sizes.update((n, v.array.size) for n, v in zip(results(step), seen.values, strict=True) if v is not None)
    return any(isinstance(s, AppendBackward) and sizes.get(s.loss) != 1 for s in at(case, number))


PROGRAM_CONDITIONS: dict[str, Callable[[Case, int], bool]] = {
    "constant_first_operand": constant_first_operand,
    "constant_among_several": constant_among_several,
    "constant_seed": constant_seed,
    "target_above_target": target_above_target,
    "loss_of_several": loss_of_several,
    "targets_coincide": targets_coincide,
    "target_without_gradient": target_without_gradient,
    "later_input_of_several": later_input_of_several,
    "double_precision": lambda case, number: any(entry.dtype == "float64" for entry in case.inputs) or mixed_dtypes(case, number),
    "callbacks": lambda case, number: any(isinstance(s, AppendBackward) and s.callbacks for s in at(case, number)),
    "by_name": lambda case, number: any(isinstance(s, AppendBackward) and s.by_name for s in at(case, number)),
}
