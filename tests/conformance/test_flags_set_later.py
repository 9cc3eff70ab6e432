"""Flags that are set after an op ran: of which operands they count in PyTorch, and of which it kept a view or a part that has none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from conformance.case.case import Case
from conformance.case.steps import Backward, Grad, Op, SetRequiresGrad
from conformance.generate.grid import grid
from reference_impl import TORCH
from tests.conformance.engines import TOTAL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.campaign.workers.pool import Workers

RANKS = 4
"""Of how many combinations of ranks an op is asked."""


def scripts(op: str) -> Iterator[Case]:
    """Yield scripts of an op that set the flag of an operand behind it, and differentiate the gradients of the others."""
    asked: set[tuple[int, ...]] = set()
    for point in grid([op], without=("step:toggle",)):  # leaves that are inputs as they are
        case = point.case()
        made = next(step for step in case.steps if isinstance(step, Op))
        shapes = {entry.name: entry.shape for entry in case.inputs if entry.dtype.startswith("float") and 0 not in entry.shape}
        operands = tuple(dict.fromkeys(made.operands))
        ranks = tuple(len(shapes.get(name, ())) for name in operands)
        if len(operands) > 1 and shapes.keys() >= {*operands} and ranks not in asked and len(asked) < RANKS:
            asked.add(ranks)
            yield from (_script(case, made, later) for later in operands)


def _script(case: Case, made: Op, later: str) -> Case:
    used = (entry for entry in case.inputs if entry.name in made.operands)
    inputs = tuple(msgspec.structs.replace(entry, differentiable=entry.name != later) for entry in used)
    others = tuple(entry.name for entry in inputs if entry.differentiable)
    grads = tuple(f"g_{name}" for name in others)
    first = Grad(("total",), others, grads, create_graph=True)
    sums = [Op("sum", (name,), (f"sum_{name}",), TOTAL) for name in grads]
    again = [Backward(one.results, retain_graph=True) for one in sums]
    return Case(inputs, (made, SetRequiresGrad(later, True), Op("sum", made.results, ("total",), TOTAL), first, *sums, *again))


@pytest.mark.parametrize("op", sorted(TORCH.reshaped))
def test_a_flag_that_is_set_later_counts_where_the_operand_itself_was_kept(workers: Workers, op: str) -> None:
    cases = list(scripts(op))
    verdicts = [record.verdicts["torch"] for record in workers.judged(cases, "torch")]
    assert verdicts
    assert not [one.mismatch for one in verdicts if one.bucket not in ("agreed", "known_deviation", "same_error")]
