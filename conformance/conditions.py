"""Named conditions on a case and one of its steps, for the predicates of known deviations.

A condition looks at the script, never at what a backend answered. Step -1 stands for the whole case.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.backends.reference import reference
from conformance.outcome import Computed, Raised
from conformance.steps import Backward, Custom, Grad, Op, Step, ops, results, uses
from reference_impl import PADDLE, Category

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from conformance.case import Case
    from conformance.outcome import Observation

SEED_FIELDS = ("grad_tensors", "grad_outputs")
SEVERAL = ("split", "chunk", "unbind")
SHAPED = (
    "getitem_slice",
    "reshape",
    "view",
    "flatten",
    "expand",
    "tile",
    "repeat",
    "repeat_interleave",
    "squeeze",
    "roll",
    "pad_constant",
)


def _until(case: Case, number: int) -> Sequence[Step]:
    return case.steps if number < 0 else case.steps[: number + 1]


def _before(case: Case, number: int) -> Sequence[Step]:
    return case.steps if number < 0 else case.steps[:number]


def _at(case: Case, number: int) -> Sequence[Step]:
    return case.steps if number < 0 else case.steps[number : number + 1]


def _calls(steps: Sequence[Step]) -> Iterator[tuple[tuple[str, ...], tuple[str | None, ...] | None, Grad | Backward]]:
    for step in steps:
        if isinstance(step, Grad):
            yield step.outputs, step.grad_outputs, step
        elif isinstance(step, Backward):
            yield step.tensors, step.grad_tensors, step


def more_seeds_than_roots(case: Case, number: int) -> bool:
    """Whether the call has more seeds than roots."""
    return any(seeds is not None and len(seeds) > len(roots) for roots, seeds, _ in _calls(_at(case, number)))


def input_is_output(case: Case, number: int) -> bool:
    """Whether a `grad` call asks for the gradient of one of its own outputs."""
    return any(isinstance(s, Grad) and not set(s.inputs).isdisjoint(s.outputs) for s in _at(case, number))


def input_of_several(case: Case, number: int) -> bool:
    """Whether a `grad` call asks for the gradient of a result of an op, or a custom function, with several results."""
    several = [
        s.results for s in case.steps if (isinstance(s, Op) and s.op in SEVERAL) or (isinstance(s, Custom) and len(s.results) > 1)
    ]
    made = {name for names in several for name in names}
    return any(isinstance(s, Grad) and not made.isdisjoint(s.inputs) for s in _at(case, number))


def captured_on_the_way(case: Case, number: int) -> bool:
    """Whether a `grad` call with several inputs asks for the gradient of a computed value."""
    leaves = {entry.name for entry in case.inputs}
    return any(isinstance(s, Grad) and len(s.inputs) > 1 and not leaves.issuperset(s.inputs) for s in _at(case, number))


def after_freeing_grad(case: Case, number: int) -> bool:
    """Whether an earlier `grad` call freed its graph."""
    return any(
        isinstance(s, Grad) and not (s.create_graph if s.retain_graph is None else s.retain_graph) for s in _before(case, number)
    )


def seed_shape_refused(case: Case, number: int) -> bool:
    """Whether some call up to here has a seed of the wrong shape."""
    outcome = reference(PADDLE, PADDLE.not_offered).run(case)
    seen = outcome.observations if number < 0 else outcome.observations[: number + 1]
    return any(isinstance(o, Raised) and o.category is Category.SEED_SHAPE for o in seen)


def refused_step(case: Case, number: int) -> bool:
    """Whether the reference, in Paddle's dialect, refuses the step."""
    outcome = reference(PADDLE, PADDLE.not_offered).run(case)
    return number >= 0 and isinstance(outcome.observations[number], Raised)


def mixed_dtypes(case: Case, number: int) -> bool:
    """Whether the case has floating tensors of more than one dtype."""
    return len({entry.dtype for entry in case.inputs}) > 1 or any(isinstance(s, Op) and s.op == "cast" for s in case.steps)


def seed_used_again(case: Case, number: int) -> bool:
    """Whether a constant that was the seed of a call is used by a later step, other than as a seed."""
    constants = {entry.name for entry in case.inputs if not entry.differentiable}
    seeds: set[str] = set()
    for step in _until(case, number):
        if any(name in seeds for field, name in uses(step) if field not in SEED_FIELDS):
            return True
        seeds.update(n for _, given, _ in _calls([step]) for n in given or () if n in constants)
    return False


def input_is_derivative(case: Case, number: int) -> bool:
    """Whether a call asks for the gradient of a derivative that was computed with create_graph."""
    made = {n for s in _before(case, number) if isinstance(s, Grad) and s.create_graph for n in s.results}
    return any(isinstance(s, Grad) and not made.isdisjoint(s.inputs) for s in _at(case, number))


def moves_nothing(case: Case, number: int) -> bool:
    """Whether some shape op has a result of the shape of its operand."""
    outcome = reference(PADDLE, PADDLE.not_offered).run(case)
    shapes = {entry.name: entry.shape for entry in case.inputs}
    for step, seen in zip(case.steps, outcome.observations, strict=True):
        if isinstance(seen, Computed):
            made = [v.array.shape if v is not None else () for v in seen.values]
            if isinstance(step, Op) and step.op in SHAPED and shapes.get(step.operands[0]) == made[0]:
                return True
            shapes.update(zip(results(step), made, strict=False))
    return False


def _customs_above(case: Case, number: int) -> list[Custom]:
    """Return the custom functions that made the values of a step, directly or not; all of them for the whole case."""
    if number < 0:
        return [step for step in case.steps if isinstance(step, Custom)]
    wanted = {name for _, name in uses(case.steps[number])}
    found = []
    for step in reversed(case.steps[: number + 1]):
        if not wanted.isdisjoint(results(step)):
            wanted.update(name for _, name in uses(step))
            found += [step] if isinstance(step, Custom) else []
    return found


def custom_walked_again(case: Case, number: int) -> bool:
    """Whether a call walks over a custom function that a `backward` before it has walked over."""
    walked: set[str] = set()
    for i, step in enumerate(_until(case, number)):
        if isinstance(step, Backward | Grad):
            names = {name for custom in _customs_above(case, i) for name in custom.results}
            if not walked.isdisjoint(names):
                return True
            walked |= names if isinstance(step, Backward) else set()
    return False


def custom_returns_operand(case: Case, number: int) -> bool:
    """Whether an output of some custom function up to here is one of its operands."""
    return any(isinstance(s, Custom) and not set(s.outputs).isdisjoint(s.operands) for s in _until(case, number))


def custom_shares_gradient(case: Case, number: int) -> bool:
    """Whether a custom backward up to here returns what it did not make itself, or the same tensor twice."""
    for step in _until(case, number):
        if isinstance(step, Custom):
            given = [name for name in step.gradients if name is not None]
            if len(set(given)) < len(given) or not {*step.saved, *step.cotangents}.isdisjoint(given):
                return True
    return False


def custom_gradient_misfits(case: Case, number: int) -> bool:
    """Whether a custom backward returns, at the step or anywhere in the case, a gradient of the wrong shape."""
    seen = _at_outcome(case, number)
    return any(isinstance(o, Raised) and o.category is Category.CALLBACK_RESULT and "its gradient" in o.message for o in seen)


def _at_outcome(case: Case, number: int) -> Sequence[Observation]:
    outcome = reference(PADDLE, PADDLE.not_offered).run(case)
    return outcome.observations if number < 0 else outcome.observations[number : number + 1]


def created_in_no_grad(case: Case, number: int) -> bool:
    """Whether a `grad` call up to here asks for a graph inside a no_grad region."""
    return any(isinstance(s, Grad) and s.create_graph and s.no_grad for s in _until(case, number))


def size_zero(case: Case, number: int) -> bool:
    """Whether the case has a tensor without elements."""
    return any(0 in entry.shape for entry in case.inputs)


CONDITIONS: dict[str, Callable[[Case, int], bool]] = {
    "no_grad": lambda case, number: any(getattr(s, "no_grad", False) for s in _at(case, number)),
    "no_grad_vars": lambda case, number: any(isinstance(s, Grad) and s.no_grad_vars is not None for s in _at(case, number)),
    "create_graph": lambda case, number: any(s.create_graph for _, _, s in _calls(_at(case, number))),
    "after_create_graph": lambda case, number: any(s.create_graph for _, _, s in _calls(_before(case, number))),
    "after_backward_with_inputs": lambda case, number: any(
        isinstance(s, Backward) and s.inputs is not None for s in _before(case, number)
    ),
    "more_seeds_than_roots": more_seeds_than_roots,
    "input_is_output": input_is_output,
    "input_of_several": input_of_several,
    "captured_on_the_way": captured_on_the_way,
    "after_freeing_grad": after_freeing_grad,
    "seed_shape_refused": seed_shape_refused,
    "refused_step": refused_step,
    "mixed_dtypes": mixed_dtypes,
    "seed_used_again": seed_used_again,
    "input_is_derivative": input_is_derivative,
    "moves_nothing": moves_nothing,
    "created_in_no_grad": created_in_no_grad,
    "custom_above": lambda case, number: bool(_customs_above(case, number)),
    "custom_casts": lambda case, number: any(op.op == "cast" for s in _customs_above(case, number) for op in ops(s)),
    "custom_gives_none": lambda case, number: any(None in s.gradients for s in _customs_above(case, number)),
    "custom_walked_again": custom_walked_again,
    "custom_returns_operand": custom_returns_operand,
    "custom_shares_gradient": custom_shares_gradient,
    "custom_gradient_misfits": custom_gradient_misfits,
    "size_zero": size_zero,
}
