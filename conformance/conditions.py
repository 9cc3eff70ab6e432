"""Named conditions on a case and one of its steps, for the predicates of known deviations.

A condition looks at the script, never at what a backend answered. Step -1 stands for the whole case.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance import in_place_conditions
from conformance.backends.reference import predicted
from conformance.complex_conditions import COMPLEX_CONDITIONS
from conformance.custom_conditions import CUSTOM_CONDITIONS
from conformance.outcome import Computed, Raised
from conformance.point_conditions import POINT_CONDITIONS
from conformance.program_conditions import PROGRAM_CONDITIONS
from conformance.reading import at, before, calls, input_is_output, input_of_several, mixed_dtypes, until, upstream
from conformance.steps import Backward, Custom, Edge, Grad, Hook, InPlace, Op, RetainGrad, Toggle, results, uses
from reference_impl import DIALECTS, PADDLE, Category

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.case import Case

SEED_FIELDS = ("grad_tensors", "grad_outputs")
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


def more_seeds_than_roots(case: Case, number: int) -> bool:
    """Whether the call has more seeds than roots."""
    return any(seeds is not None and len(seeds) > len(roots) for roots, seeds, _ in calls(at(case, number)))


def leaf_seeded_in_another_dtype(case: Case, number: int) -> bool:
    """Whether some call up to here has an input as a root, and for its seed an input of another dtype."""
    dtypes = {entry.name: entry.dtype for entry in case.inputs}
    pairs = (pair for roots, seeds, _ in calls(until(case, number)) for pair in zip(roots, seeds or (), strict=False))
    return any(root in dtypes and dtypes.get(seed or "", dtypes[root]) != dtypes[root] for root, seed in pairs)


def captured_on_the_way(case: Case, number: int) -> bool:
    """Whether a `grad` call with several inputs asks for the gradient of a computed value."""
    leaves = {entry.name for entry in case.inputs}
    return any(isinstance(s, Grad) and len(s.inputs) > 1 and not leaves.issuperset(s.inputs) for s in at(case, number))


def third_derivative_again(case: Case, number: int) -> bool:
    """Whether a `backward` came before the step, and before that two derivatives with a graph of their own."""
    created = 0
    for step in before(case, number):
        if isinstance(step, Grad):
            created += step.create_graph
        elif isinstance(step, Backward) and created > 1:
            return True
    return False


def after_freeing_grad(case: Case, number: int) -> bool:
    """Whether an earlier `grad` call freed its graph."""
    return any(isinstance(s, Grad) and not (s.create_graph if s.retain_graph is None else s.retain_graph) for s in before(case, number))


def seed_shape_refused(case: Case, number: int) -> bool:
    """Whether some call up to here has a seed of the wrong shape."""
    outcome = predicted(case, PADDLE)
    seen = outcome.observations if number < 0 else outcome.observations[: number + 1]
    return any(isinstance(o, Raised) and o.category is Category.SEED_SHAPE for o in seen)


def refused_step(case: Case, number: int) -> bool:
    """Whether the reference refuses the step, in some dialect."""
    outcomes = (predicted(case, dialect) for dialect in DIALECTS.values())
    return number >= 0 and any(isinstance(o.observations[number], Raised) for o in outcomes)


def seed_used_again(case: Case, number: int) -> bool:
    """Whether a constant that was the seed of a call is used by a later step, other than as a seed."""
    constants = {entry.name for entry in case.inputs if not entry.differentiable}
    seeds: set[str] = set()
    for step in until(case, number):
        if any(name in seeds for field, name in uses(step) if field not in SEED_FIELDS):
            return True
        seeds.update(n for _, given, _ in calls([step]) for n in given or () if n in constants)
    return False


def input_is_derivative(case: Case, number: int) -> bool:
    """Whether a call asks for the gradient of a derivative that was computed with create_graph."""
    made = {n for s in before(case, number) if isinstance(s, Grad) and s.create_graph for n in s.results}
    return any(isinstance(s, Grad) and not made.isdisjoint(s.inputs) for s in at(case, number))


def moves_nothing(case: Case, number: int) -> bool:
    """Whether some shape op has a result of the shape of its operand."""
    outcome = predicted(case, PADDLE)
    shapes = {entry.name: entry.shape for entry in case.inputs}
    for step, seen in zip(case.steps, outcome.observations, strict=True):
        if isinstance(seen, Computed):
            made = [v.array.shape if v is not None else () for v in seen.values]
            if isinstance(step, Op) and step.op in SHAPED and shapes.get(step.operands[0]) == made[0]:
                return True
            shapes.update(zip(results(step), made, strict=False))
    return False


def created_in_no_grad(case: Case, number: int) -> bool:
    """Whether a `grad` call up to here asks for a graph inside a no_grad region."""
    return any(isinstance(s, Grad) and s.create_graph and s.no_grad for s in until(case, number))


def size_zero(case: Case, number: int) -> bool:
    """Whether the case has a tensor without elements."""
    return any(0 in entry.shape for entry in case.inputs)


def hooks(case: Case, number: int, *returns: str) -> Iterator[Hook]:
    """Yield the hooks that were registered before a step, those that return such a thing."""
    return (s for s in before(case, number) if isinstance(s, Hook) and (not returns or s.returns in returns))


def leaf_hook_asked(case: Case, number: int) -> bool:
    """Whether a `grad` call asks for the gradient of a leaf that has a hook.

    A constant whose flag was set is a leaf; a derivative of a leaf in itself is the seed, another leaf.
    """
    hooked = {h.tensor for h in hooks(case, number)}
    leaves = {entry.name for entry in case.inputs} | {s.tensor for s in before(case, number) if isinstance(s, Toggle)}
    identical = any(input_is_output(case, i) and not hooked.isdisjoint(results(s)) for i, s in enumerate(before(case, number)))
    asked = hooked.intersection(leaves)
    return any(isinstance(s, Grad) and (identical or not asked.isdisjoint(s.inputs)) for s in at(case, number))


def hook_on_asked(case: Case, number: int) -> bool:
    """Whether a call asks for the gradient of a computed value that has a hook, besides others; or for that of its edge."""
    hooked = {h.tensor for h in hooks(case, number)}
    hooked.update(s.results[0] for s in case.steps if isinstance(s, Edge) and s.tensor in hooked)
    return any(isinstance(s, Grad) and len(s.inputs) > 1 and not hooked.isdisjoint(s.inputs) for s in at(case, number))


def cut_root_below_root(case: Case, number: int) -> bool:
    """Whether a `grad` call cuts one of its outputs of which another output is computed."""
    steps = before(case, number)
    for call in at(case, number):
        if isinstance(call, Grad):
            cut = set(call.no_grad_vars or ()).intersection(call.outputs)
            if any(not cut.isdisjoint(upstream(steps, root) - {root}) for root in call.outputs):
                return True
    return False


def hook_on_custom(case: Case, number: int) -> bool:
    """Whether an output of a custom function has a hook that returns something."""
    made = {name for s in case.steps if isinstance(s, Custom) for name in s.results}
    return any(h.tensor in made for h in hooks(case, number, "scaled", "tensor", "another_dtype"))


def hook_returns_differentiable(case: Case, number: int) -> bool:
    """Whether some hook returns a tensor that requires a gradient."""
    tracked = {entry.name for entry in case.inputs if entry.differentiable}
    tracked.update(s.tensor for s in case.steps if isinstance(s, InPlace) or (isinstance(s, Toggle) and s.requires_grad))
    return any(h.tensor_returned in tracked for h in hooks(case, number, "tensor"))


def edge_of_computed_input(case: Case, number: int) -> bool:
    """Whether some `backward` up to here has the edge of a computed tensor among its inputs."""
    leaves = {entry.name for entry in case.inputs}
    edges = {s.results[0] for s in case.steps if isinstance(s, Edge) and s.tensor not in leaves}
    return any(isinstance(s, Backward) and not edges.isdisjoint(s.inputs or ()) for s in until(case, number))


def edge_of_toggled(case: Case, number: int) -> bool:
    """Whether a call takes the edge of a tensor whose flag was taken off."""
    off = {s.tensor for s in before(case, number) if isinstance(s, Toggle) and not s.requires_grad}
    edges = {s.results[0] for s in case.steps if isinstance(s, Edge) and s.tensor in off}
    return any(not edges.isdisjoint(name for _, name in uses(s)) for _, _, s in calls(at(case, number)))


def no_seeds_in_a_list(case: Case, number: int) -> bool:
    """Whether the call has a list of seeds, and none in it."""
    return any(seeds == () for _, seeds, _ in calls(at(case, number)))


CONDITIONS: dict[str, Callable[[Case, int], bool]] = {
    **PROGRAM_CONDITIONS,
    **CUSTOM_CONDITIONS,
    **COMPLEX_CONDITIONS,
    "no_grad": lambda case, number: any(getattr(s, "no_grad", False) for s in at(case, number)),
    "no_grad_vars": lambda case, number: any(isinstance(s, Grad) and s.no_grad_vars is not None for s in at(case, number)),
    "create_graph": lambda case, number: any(s.create_graph for _, _, s in calls(at(case, number))),
    "after_create_graph": lambda case, number: any(s.create_graph for _, _, s in calls(before(case, number))),
    "after_backward_with_inputs": lambda case, number: any(
        isinstance(s, Backward) and s.inputs is not None for s in before(case, number)
    ),
    "more_seeds_than_roots": more_seeds_than_roots,
    "input_is_output": input_is_output,
    "after_input_is_output": lambda case, number: any(input_is_output(case, i) for i, _ in enumerate(before(case, number))),
    "input_of_several": input_of_several,
    "captured_on_the_way": captured_on_the_way,
    "after_freeing_grad": after_freeing_grad,
    "seed_shape_refused": seed_shape_refused,
    "refused_step": refused_step,
    "mixed_dtypes": mixed_dtypes,
    "leaf_seeded_in_another_dtype": leaf_seeded_in_another_dtype,
    "seed_used_again": seed_used_again,
    "input_is_derivative": input_is_derivative,
    "moves_nothing": moves_nothing,
    "created_in_no_grad": created_in_no_grad,
    "size_zero": size_zero,
    "edge_of_computed_input": edge_of_computed_input,
    "edge_of_toggled": edge_of_toggled,
    "no_seeds_in_a_list": no_seeds_in_a_list,
    "batched": lambda case, number: any(isinstance(s, Grad) and s.is_grads_batched for s in at(case, number)),
    "materialized": lambda case, number: any(isinstance(s, Grad) and s.materialize_grads for s in at(case, number)),
    "leaf_hook_asked": leaf_hook_asked,
    "third_derivative_again": third_derivative_again,
    "cut_root_below_root": cut_root_below_root,
    "hook_on_asked": hook_on_asked,
    "hook_on_custom": hook_on_custom,
    "hook_returns_differentiable": hook_returns_differentiable,
    "hook_returns_tensor": lambda case, number: any(hooks(case, number, "tensor")),
    "hook_of_another_dtype": lambda case, number: any(hooks(case, number, "another_dtype", "tensor")),
    "one_root_with_inputs": lambda case, number: any(len(roots) == 1 and s.inputs for roots, _, s in calls(at(case, number))),
    "batched_so_far": lambda case, number: any(isinstance(s, Grad) and s.is_grads_batched for s in until(case, number)),
    "hooked_or_retained": lambda case, number: any(
        isinstance(s, Hook | RetainGrad) or (isinstance(s, Backward) and s.inputs is not None) for s in before(case, number)
    ),
    "retains": lambda case, number: any(isinstance(s, RetainGrad) for s in before(case, number)),
    "after_in_place": lambda case, number: any(isinstance(s, InPlace) for s in before(case, number)),
    "refused_step_or_hooks": lambda case, number: any(hooks(case, number)) or refused_step(case, number),
    "numeric_lane": lambda case, _: case.lane == "numeric",
    "second_pass": lambda case, number: sum(isinstance(s, Backward) for s in until(case, number)) > 1,
    "after_toggle": lambda case, number: any(isinstance(s, Toggle) for s in before(case, number)),
    **in_place_conditions.CONDITIONS,
    **POINT_CONDITIONS,
}
