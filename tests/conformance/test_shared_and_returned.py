"""Gradients that share a memory, and operands that are returned: engines that entries on these no longer excuse."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.backends import BackendInfo
from conformance.case.case import Case, Input
from conformance.case.outcome import Computed
from conformance.case.steps import Backward, Custom, InPlace, Op, RetainGrad
from conformance.compare.promise import Promise
from conformance.deviations.counterfactuals.scripts import COUNTERFACTUALS
from conformance.judge.verdict import Bucket, judge
from reference_impl import PADDLE, TORCH
from tests.conformance.engines import TOTAL

if TYPE_CHECKING:
    from conformance.case.outcome import Outcome
    from conformance.case.steps import Step

INFO = BackendInfo("paddle", "3.3.1", PADDLE, PADDLE.not_offered)
OF_TORCH = BackendInfo("torch", "2.13.0", TORCH, TORCH.not_offered)
X, W = Input("x", (2,), (2.0, 3.0)), Input("w", (2,), (5.0, 7.0))
RESHAPED = Op("reshape", ("x",), ("h",), {"shape": [2, 1]})
SHARING = Custom(("x", "w"), ("h",), (Op("add", ("x", "w"), ("f",)),), ("f",), ("c",), ("c", "c"))
S, R = (Input(name, (2, 1), numbers, differentiable=False) for name, numbers in (("s", (3.0, 5.0)), ("r", (0.5, 4.0))))
SEEDED = [Backward(("h",), (seed,), retain_graph=True) for seed in "sr"]


def passed_twice(promise: Promise) -> Outcome:
    """Return what an engine answers whose last call adds its gradients twice to ``x.grad``."""
    *before, last = promise.outcome.observations
    states = [seen.state for seen in (*before, last) if isinstance(seen, Computed) and seen.state is not None]
    slot = promise.case.watched.index("x")
    held = states[-2][slot] if len(states) > 1 else None
    now = states[-1][slot]
    assert now is not None
    twice = replace(now, array=2 * now.array - (0 if held is None else held.array))
    state = tuple(twice if i == slot else value for i, value in enumerate(states[-1]))
    assert isinstance(last, Computed)
    return replace(promise.outcome, observations=[*before, replace(last, state=state)], final=state)


@pytest.mark.parametrize(
    ("info", "steps"),
    [
        (INFO, (RESHAPED, RetainGrad("h"), *SEEDED)),
        (INFO, (SHARING, Op("sum", ("h",), ("z",), TOTAL), Backward(("z",)))),
        (OF_TORCH, (RESHAPED, SEEDED[0], InPlace("mul_scalar", "s", (), {"other": 3.0}), SEEDED[1])),
    ],
    ids=["beside a retained gradient", "beside a gradient that is shared", "behind a seed that was written"],
)
def test_gradients_that_are_added_twice_are_no_other_gradient_in_their_memory(info: BackendInfo, steps: tuple[Step, ...]) -> None:
    promise = Promise(Case((X, W, S, R), steps, "exact"), info)
    assert Bucket.DIVERGED == judge(promise, passed_twice(promise)).bucket


def test_an_operand_that_is_returned_is_the_result_from_then_on_and_the_result_is_a_leaf() -> None:
    """As Paddle 3.3.1 does it."""
    returning = Custom(("x",), ("v",), (), ("x",), ("c",), ("b",), (Op("mul_scalar", ("c",), ("b",), {"other": 7.0}),))
    roots = (Op("sum", (name,), (f"{name}_sum",), TOTAL) for name in "vx")
    steps = (returning, *roots, Backward(("v_sum",)), Backward(("x_sum",)))
    ((case, number),) = COUNTERFACTUALS["as if returned operands were the results"](Case((X,), steps, "exact"), 4, ())
    *_, by_result, by_operand = Promise(case, INFO).outcome.observations
    assert len(case.steps) - 1 == number
    assert isinstance(by_result, Computed)
    assert isinstance(by_operand, Computed)
    slot = case.watched.index("x")
    assert by_result.state is not None
    assert by_operand.state is not None
    assert by_result.state[slot] is None
    gradient = by_operand.state[slot]
    assert gradient is not None
    assert [7.0, 7.0] == gradient.array.tolist()
