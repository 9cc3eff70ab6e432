"""Named conditions about in-place updates, for the predicates of known deviations; see `conditions`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.aliases import Aliases
from conformance.reading import until
from conformance.steps import Backward, Detach, Grad, Hook, InPlace, RetainGrad, uses

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.case import Case


def _written(case: Case, number: int) -> list[InPlace]:
    return [s for s in until(case, number) if isinstance(s, InPlace)]


def shared_written(case: Case, number: int) -> bool:
    """Whether a recorded in-place update up to here changed a view, or a value that has views."""
    for i, step in enumerate(until(case, number)):
        if isinstance(step, InPlace) and not step.no_grad:
            aliases = Aliases(case.steps[:i])
            family = [m for m in aliases.members(step.tensor) if aliases.base(m) == aliases.base(step.tensor)]
            if len(family) > 1:
                return True
    return False


def leaf_view_written(case: Case, number: int) -> bool:
    """Whether the step changes a view of an input in place."""
    step = case.steps[number]
    leaves = {entry.name for entry in case.inputs if entry.differentiable}
    return isinstance(step, InPlace) and step.tensor not in leaves and Aliases(case.steps[:number]).base(step.tensor) in leaves


GIVEN = ("grad_outputs", "grad_tensors", "grad_variables", "tensor_returned")


def seed_or_gradient_written(case: Case, number: int) -> bool:
    """Whether an in-place update up to here changed the memory of a seed, of what a hook returned, or of a returned gradient."""
    steps = until(case, number)
    aliases = Aliases(steps)
    given = {aliases.root(n) for s in steps for field, n in uses(s) if field in GIVEN}
    returned = {aliases.root(n) for s in steps if isinstance(s, Grad) for n in s.results}
    return any(aliases.root(s.tensor) in given | returned for s in _written(case, number))


def gradient_written(case: Case, number: int) -> bool:
    """Whether the step changes a returned gradient in place, or a view of one."""
    step = case.steps[number]
    aliases = Aliases(case.steps[:number])
    returned = {n for s in case.steps[:number] if isinstance(s, Grad) for n in s.results}
    return isinstance(step, InPlace) and aliases.root(step.tensor) in returned


def view_asked_after_write(case: Case, number: int) -> bool:
    """Whether the gradient of a view is asked for, now or by a hook, whose memory an in-place update changed."""
    step = case.steps[number]
    aliases = Aliases(case.steps[:number])
    written = {aliases.root(s.tensor) for s in _written(case, number)}
    views = {n for n, (_, made_by) in aliases.parent.items() if not isinstance(made_by, Detach)}
    asked = isinstance(step, Grad | Backward) and any(n in views and aliases.root(n) in written for n in step.inputs or ())
    return asked or hook_on_rewritten_view(case, number)


def second_order_in_place(case: Case, number: int) -> bool:
    """Whether a call with create_graph came after a recorded in-place update."""
    steps = list(until(case, number))
    first = next((i for i, s in enumerate(steps) if isinstance(s, InPlace) and not s.no_grad), len(steps))
    return any(isinstance(s, Grad) and s.create_graph for s in steps[first:])


def hook_on_rewritten_view(case: Case, number: int) -> bool:
    """Whether some step up to here hooks, or retains the gradient of, a view whose memory an in-place update changed before."""
    for i, step in enumerate(until(case, number)):
        if isinstance(step, Hook | RetainGrad):
            aliases = Aliases(case.steps[:i])
            written = {aliases.root(s.tensor) for s in case.steps[:i] if isinstance(s, InPlace)}
            if step.tensor in aliases.parent and aliases.root(step.tensor) in written:
                return True
    return False


def hooked_view_written(case: Case, number: int) -> bool:
    """Whether an in-place update up to here changed the memory of a view that had a hook, or retained its gradient, by then."""
    for i, step in enumerate(until(case, number)):
        if isinstance(step, InPlace):
            aliases = Aliases(case.steps[:i])
            attached = [s.tensor for s in case.steps[:i] if isinstance(s, Hook | RetainGrad) and s.tensor in aliases.parent]
            if any(aliases.root(name) == aliases.root(step.tensor) for name in attached):
                return True
    return False


CONDITIONS: dict[str, Callable[[Case, int], bool]] = {
    "hook_on_rewritten_view": hook_on_rewritten_view,
    "hooked_view_written": hooked_view_written,
    "shared_written": shared_written,
    "leaf_view_written": leaf_view_written,
    "seed_or_gradient_written": seed_or_gradient_written,
    "gradient_written": gradient_written,
    "view_asked_after_write": view_asked_after_write,
    "second_order_in_place": second_order_in_place,
}
