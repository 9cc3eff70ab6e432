"""What known deviations do not hide: a framework that is worse than it is, where one of its deviations shows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.backends import answer
from conformance.campaign.workers.backend_cache import backend
from conformance.campaign.workers.pool import Workers
from conformance.case.case import Case, Input
from conformance.case.outcome import Computed, Outcome
from conformance.case.steps import Backward, Grad, Hook, InPlace, Op
from conformance.compare.promise import Promise
from conformance.judge.verdict import Bucket, judge
from tests.conformance.engines import TOTAL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Change = Callable[[Outcome], Outcome]

WRITTEN = (
    Op("clone", ("x",), ("y",)),
    Op("getitem_int", ("y",), ("v",), {"index": 0}),
    Op("clone", ("w",), ("u",)),
    InPlace("mul", "v", ("u",)),
)
"""A recorded write to a view."""
X, W = Input("x", (2,), (1.0, 2.0)), Input("w", (), (3.0,))


def without_calls_at_the_end(outcome: Outcome) -> Outcome:
    """Return an outcome in whose last step no hook is called and nothing else is written."""
    *before, last = outcome.observations
    assert isinstance(last, Computed)
    return replace(outcome, observations=[*before, replace(last, events=())])


def with_calls_at_the_end_twice(outcome: Outcome) -> Outcome:
    """Return an outcome in whose last step each hook is called once more."""
    *before, last = outcome.observations
    assert isinstance(last, Computed)
    return replace(outcome, observations=[*before, replace(last, events=(*last.events, *last.events))])


def with_written_seed(outcome: Outcome) -> Outcome:
    """Return an outcome in which the seed is changed."""
    return replace(outcome, mutated=(*outcome.mutated, "s"))


def with_another_number_at_the_end(outcome: Outcome) -> Outcome:
    """Return an outcome in which the result of the last step is 1 more."""
    *before, last = outcome.observations
    assert isinstance(last, Computed)
    (made,) = last.values
    assert made is not None
    return replace(outcome, observations=[*before, replace(last, values=(replace(made, array=made.array + 1),))])


WORSE: dict[str, tuple[str, Case, Change]] = {
    "a view that copies, after a recorded write": (
        "paddle",
        Case((X, W), (*WRITTEN, Op("reshape", ("y",), ("r",), {"shape": [2, 1]}), InPlace("mul_scalar", "r", (), {"other": 2.0}))),
        without_calls_at_the_end,
    ),
    "a hook that is called twice behind a recorded write": (
        "paddle",
        Case((X, W), (*WRITTEN, Hook("y", ("k",), "nothing"), Op("sum", ("y",), ("z",), TOTAL), Backward(("z",)))),
        with_calls_at_the_end_twice,
    ),
    "a hook that is called twice behind a seed that was used again": (
        "paddle",
        Case(
            (X, Input("s", (2,), (1.0, 2.0), differentiable=False)),
            (
                Grad(("x",), ("x",), ("g",), ("s",), create_graph=True),
                Op("mul", ("x", "s"), ("y",)),
                Hook("y", ("k",), "nothing"),
                Op("sum", ("y",), ("z",), TOTAL),
                Backward(("z",)),
            ),
        ),
        with_calls_at_the_end_twice,
    ),
    "a seed that is changed by a second pass, and was handed on to nobody": (
        "paddle",
        Case(
            (X, Input("s", (2,), (1.0, 2.0), differentiable=False)),
            (Op("square", ("x",), ("y",)), Backward(("y",), ("s",), retain_graph=True), Backward(("y",), ("s",))),
        ),
        with_written_seed,
    ),
    "a product of matrices that is wrong beside an empty tensor": (
        "paddle",
        Case(
            (Input("a", (1, 1, 1), (0.0,)), Input("e", (0,), ())),
            (Op("neg", ("e",), ("f",)), Op("bmm", ("a", "a"), ("y",))),
        ),
        with_another_number_at_the_end,
    ),
    "a gradient that is wrong beside a softmax that was overwritten": (
        "paddle",
        Case(
            (Input("x", (1, 2), (1.0, 2.0)), W),
            (
                Op("cross_entropy", ("x",), ("y",), {"target": [0], "weight": None, "ignore_index": -100, "reduction": "sum"}),
                Op("square", ("w",), ("v",)),
                Backward(("y",), retain_graph=True),
                Grad(("v",), ("w",), ("g",)),
            ),
        ),
        with_another_number_at_the_end,
    ),
}


def bucket(case: Case, name: str, change: Change) -> str:
    """Judge what a framework answers after a change."""
    engine = backend(name)
    return str(judge(Promise(case, engine.info), change(answer(engine, case))).bucket)


@pytest.fixture(scope="module")
def engines() -> Iterator[Workers]:
    with Workers(("torch", "paddle"), 1) as workers:
        yield workers


@pytest.mark.parametrize(("name", "case", "change"), WORSE.values(), ids=WORSE)
def test_a_framework_that_is_worse_diverges(name: str, case: Case, change: Change, engines: Workers) -> None:
    assert engines.call(bucket, case, name, change) == Bucket.DIVERGED
