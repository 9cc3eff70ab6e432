"""Named conditions on complex tensors, for the predicates of known deviations; see `conformance.conditions`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.case import is_complex
from conformance.ops.kinds import takes
from conformance.reading import until
from conformance.steps import Backward, Custom, Grad, Op, ops, results, uses

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.case import Case


def complex_tensors(case: Case, _: int) -> bool:
    """Whether the case has complex tensors."""
    made = any(op.op in ("complex", "polar", "as_complex") or takes(op.op) == "complex" for s in case.steps for op in ops(s))
    return made or any(is_complex(entry.dtype) for entry in case.inputs)


def complex_second_order(case: Case, number: int) -> bool:
    """Whether a step is about a derivative of a derivative, in a case that has complex tensors."""
    derived: set[str] = set()
    again = False
    for step in until(case, number):
        above = not derived.isdisjoint(name for _, name in uses(step))
        if isinstance(step, Grad):
            derived.update(step.results if step.create_graph else ())
            again |= above
        elif isinstance(step, Op | Custom):
            derived.update(results(step) if above else ())
        else:
            again |= above
    return again and complex_tensors(case, number)


def real_seed_of_complex(case: Case, number: int) -> bool:
    """Whether a call so far had a complex leaf among its roots, with a real seed."""
    dtypes = {entry.name: entry.dtype for entry in case.inputs}
    for step in until(case, number):
        if isinstance(step, Backward | Grad):
            roots, seeds = (step.tensors, step.grad_tensors) if isinstance(step, Backward) else (step.outputs, step.grad_outputs)
            pairs = zip(roots, seeds or (), strict=False)
            if any(is_complex(dtypes.get(root, "")) and seed in dtypes and not is_complex(dtypes[seed]) for root, seed in pairs):
                return True
    return False


COMPLEX_CONDITIONS: dict[str, Callable[[Case, int], bool]] = {
    "complex_tensors": complex_tensors,
    "complex_second_order": complex_second_order,
    "real_seed_of_complex": real_seed_of_complex,
    "create_graph_so_far": lambda case, number: any(isinstance(s, Grad) and s.create_graph for s in until(case, number)),
    "single_precision_function": lambda case, number: any(op.op in ("exp", "sigmoid") for s in until(case, number) for op in ops(s)),
    "complex128": lambda case, _: (
        any(entry.dtype in ("complex128", "float64") for entry in case.inputs)
        or any(op.attrs.get("dtype") in ("complex128", "float64") for s in case.steps for op in ops(s))
    ),
}
