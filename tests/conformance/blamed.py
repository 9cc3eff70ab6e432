"""Cases and wrong engines whose blame several files of tests ask for."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from conformance.case.case import Case, Input
from conformance.case.steps import Backward, Grad, Op
from conformance.judge.blame import blame
from conformance.judge.dispute import Blame, Opinion
from conformance.mutants.registry import mutant
from reference_impl import TORCH
from tests.conformance.engines import TOTAL
from tests.wrong_engines import WrongEngine

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.case.outcome import Outcome


X = Input("x", (3,), (0.1, 0.7, -1.3))
WRONG, RIGHT, SILENT = Opinion.WRONG, Opinion.RIGHT, Opinion.SILENT
SIN = Case(
    (X,),
    (
        Op("exp", ("x",), ("e",)),
        Op("sin", ("e",), ("s",)),
        Op("square", ("s",), ("q",)),
        Op("sum", ("q",), ("z",), TOTAL),
        Grad(("z",), ("x",), ("g",)),
    ),
)
TWICE = Case(
    (X,),
    (
        Op("sin", ("x",), ("s",)),
        Op("sum", ("s",), ("z",), TOTAL),
        Grad(("z",), ("x",), ("g",), create_graph=True),
        Op("square", ("g",), ("q",)),
        Op("sum", ("q",), ("y",), TOTAL),
        Grad(("y",), ("x",), ("h",)),
    ),
)
SUMMED = Case((X,), (Op("sum", ("x",), ("z",), TOTAL), Backward(("z",), retain_graph=True), Backward(("z",))))


def accused(name: str, case: Case, **options: Any) -> Blame:
    """Have a wrong engine blamed."""
    found = blame(case, mutant(name).open(), **options)
    assert found is not None
    return found


def reasons(found: Blame) -> dict[str, tuple[Opinion, Opinion, str]]:
    return {vote.voter: (vote.accused, vote.reference, vote.reason) for vote in found.votes}


class Answering(WrongEngine):
    """Right, but for what is done to its answers."""

    def __init__(self, change: Callable[[Outcome], None], dialect: Any = TORCH) -> None:
        super().__init__("answering", dialect=dialect)
        self.change = change

    def run(self, case: Case) -> Outcome:
        outcome = copy.deepcopy(super().run(case))
        self.change(outcome)
        return outcome


def blamed(case: Case, change: Callable[[Any], None], dialect: Any = TORCH) -> Blame:
    found = blame(case, Answering(change, dialect))
    assert found is not None
    return found


SINE = Op("sin", ("x",), ("s",))
LOST = Case((X,), (SINE, Op("sum", ("s",), ("z",), TOTAL), Grad(("z",), ("x",), ("g",), allow_unused=True)))
ORACLE = "numerical derivative of the reference's forward"
