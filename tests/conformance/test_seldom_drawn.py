"""What was hardly ever drawn, or never: an engine that is wrong there alone is found out, and is not where that is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.backends.reference import reference
from conformance.compare.promise import Promise
from conformance.generate.grid import grid
from conformance.generate.grid.alone import INSIDE, SIBLING
from conformance.generate.odds import CustomOdds, InPlaceOdds, Odds, StateOdds
from conformance.generate.scripts import DrawOptions
from conformance.judge.judgement import judged
from conformance.judge.verdict import Bucket
from conformance.mutants.conditional.carried import carried
from conformance.mutants.registry import engines
from reference_impl import TORCH
from tests.conformance.drawn import Drawn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from conformance.case.case import Case
    from conformance.generate.grid.covering import Row

CASES = 60


def is_found_out(name: str, cases: Iterable[Case]) -> bool:
    """Whether some case shows the fault, which the reference carries, and does not show it without the fault."""
    fault = engines()[name].conditional
    assert fault is not None
    engine, right = carried("wrong", "reference", fault), reference(TORCH, TORCH.not_offered)

    def shows(case: Case) -> bool:
        promise = Promise(case, engine.info)
        return (
            judged(promise, engine.run(case)).bucket is Bucket.DIVERGED
            and judged(promise, right.run(case)).bucket is not Bucket.DIVERGED
        )

    return any(map(shows, cases))


def writing(detached: float) -> DrawOptions:
    """Return options of scripts that write in place, to tensors that were detached for it so often; no other is detached."""
    odds = Odds(in_place=InPlaceOdds(wrong=0.0, detached=detached), state=StateOdds(steps=("hook",)))
    return DrawOptions(changing=1.0, customs=0.0, complexes=0.0, odds=odds)


def with_customs(raises: float) -> DrawOptions:
    """Return options of scripts with custom functions, whose backwards raise so often."""
    return DrawOptions(changing=0.0, customs=0.5, odds=Odds(custom=CustomOdds(raises=raises)))


SCRIPTS: dict[str, Callable[[float], DrawOptions]] = {
    "in_place-a_detached_tensor-it_is_ignored": writing,
    "custom-every_time-what_its_backward_raises_is_lost": with_customs,
}


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.parametrize("chance", [0.0, 1.0])
def test_scripts_find_a_fault_where_it_is_drawn_and_nowhere_else(name: str, chance: float) -> None:
    assert bool(chance) is is_found_out(name, Drawn(1, CASES, SCRIPTS[name](chance)))


def is_of(argument: str) -> Callable[[Row], bool]:
    """Return whether a row of the grid has an argument."""
    return lambda row: row["argument"] == argument


ROWS: dict[str, tuple[str, Callable[[Row], bool]]] = {
    "flip-several_axes-its_gradients_are_doubled": ("flip", is_of("two axes")),
    "linear-its_middle_operand_alone_differentiable-its_gradients_are_doubled": ("linear", lambda row: row["asked"] in INSIDE),
    "grad-a_root_beside_a_result_that_was_written-the_seeds_are_doubled": ("unbind", lambda row: row["call"] == SIBLING),
    "softmax-rows_with_one_element_behind_their_blocks-gradients_leak_from_its_last_block": (
        "softmax",
        lambda row: (row["argument"], row["rank"]) == ("drawn", "1"),
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_the_grid_finds_a_fault_in_the_rows_that_are_there_for_it(name: str) -> None:
    op, wanted = ROWS[name]
    assert is_found_out(name, (point.case() for point in grid([op]) if wanted(point.row)))


@pytest.mark.parametrize("name", list(ROWS)[1:3])
def test_the_grid_finds_no_such_fault_in_all_its_other_rows(name: str) -> None:
    op, wanted = ROWS[name]
    assert not is_found_out(name, (point.case() for point in grid([op]) if not wanted(point.row)))
