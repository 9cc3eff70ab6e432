"""Flags in programs: a program is looked at when it has run, and each step shows the flag of its own time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.backends.program_interpreter import Programs
from conformance.backends.reference import reference
from conformance.case.case import Case, Input
from conformance.case.outcome import Computed
from conformance.case.steps import Grad, Op, SetRequiresGrad
from reference_impl import PADDLE_STATIC

if TYPE_CHECKING:
    from conformance.campaign.workers.pool import Workers

X = Input("x", (2,), (1.0, 2.0))
OFF, ON = (SetRequiresGrad("x", requires_grad=flag) for flag in (False, True))


class Right:
    """The reference's engine of programs, as those below are that do one thing otherwise."""

    def __init__(self) -> None:
        self.engine = reference(PADDLE_STATIC, {}).engine  # type: ignore[attr-defined]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)


def flags(engine: Right, *steps: Any, inputs: tuple[Input, ...] = (X,)) -> list[bool]:
    """Return the flag that each step of a program showed."""
    seen = Programs(reference(PADDLE_STATIC, {}).info, engine).run(Case(inputs, steps))  # type: ignore[arg-type]
    return [o.values[0].requires_grad for o in seen.observations if isinstance(o, Computed) and o.values[0] is not None]


def test_each_step_shows_the_flag_that_the_operand_had_then() -> None:
    first, second, third = (Op("neg", ("x",), (name,)) for name in "abc")
    assert [True, False, False, True, True] == flags(Right(), first, OFF, second, ON, third)


class IgnoresFlags(Right):
    """Sets no flag."""

    def set_flow(self, variable: object, *, flows: bool) -> None:
        pass


def test_an_engine_that_ignores_a_flag_shows_it_where_the_flag_is_set() -> None:
    assert [True] == flags(IgnoresFlags(), OFF)


class HandsOnSeeds(Right):
    """Returns the seed itself for the gradient of what is a target and is asked for: one variable under two names."""

    def gradients(self, step: Grad, values: dict[str, Any]) -> list[Any]:
        assert step.grad_outputs is not None
        return [values[name] for name in step.grad_outputs if name is not None]


@pytest.mark.parametrize("flag", [True, False])
def test_a_gradient_that_is_its_seed_shows_the_flag_that_the_seed_had_then(flag: bool) -> None:
    seed = Input("s", (2,), (1.0, 2.0), differentiable=not flag)
    before, after = SetRequiresGrad("s", requires_grad=flag), SetRequiresGrad("g", requires_grad=not flag)
    handed_on = Grad(("x",), ("x",), ("g",), grad_outputs=("s",))
    assert [flag, flag, not flag] == flags(HandsOnSeeds(), before, handed_on, after, inputs=(X, seed))


def test_paddle_hands_on_a_seed_with_the_flag_that_was_set(workers: Workers) -> None:
    constant = Input("x", (), (1.0,), differentiable=False)
    case = Case((constant,), (ON, Grad(("x",), ("x",), ("g",), grad_outputs=("x",))))
    (record,) = workers.judged([case], "paddle-static")
    assert "agreed" == record.verdicts["paddle-static"].bucket
