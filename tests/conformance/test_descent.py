"""Many places at which rounding decides a branch: what is right on some combination of branches is told from what is wrong on all."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from conformance.backends.reference import reference
from conformance.case.case import Case, Input
from conformance.case.outcome import Computed
from conformance.case.steps import Grad, Op
from conformance.compare.descent import Left, Place, descended
from conformance.compare.mismatch import Mismatch
from conformance.compare.promise import Promise
from conformance.judge.nulls import precise
from conformance.judge.verdict import FAILING, Bucket, judge
from reference_impl import TORCH

ROWS = 7
"""So many rows have a correlation with themselves that is 1, but for rounding: on either side of the bound to which it is clamped."""


def given(name: str, rng: Any, *shape: int) -> Input:
    return Input(name, shape, tuple(rng.normal(size=shape).astype(np.float32).ravel().tolist()))


RNG = np.random.default_rng(5)
CORRELATED = Case(
    (given("x", RNG, ROWS, 4), given("s", RNG, ROWS, ROWS), given("v", RNG, ROWS, 4)),
    (
        Op("corrcoef", ("x",), ("c",)),
        Grad(("c",), ("x",), ("g",), ("s",), create_graph=True),
        Grad(("g",), ("s",), ("h",), ("v",)),
    ),
    "numeric",
)
"""The derivative in a seed, which is exactly 0 where a correlation is clamped, and what roundings leave of 0 where it is not."""


def test_what_roundings_leave_on_other_branches_is_no_false_alarm() -> None:
    backend = reference(TORCH, {})
    promise = Promise(CORRELATED, backend.info)
    actual = precise(CORRELATED, backend, promise.outcome)
    assert judge(promise, actual).bucket not in FAILING


@pytest.mark.parametrize("at", [(0, 0), (0, 1)], ids=["of a row with itself", "of two rows"])
def test_a_number_that_is_wrong_on_all_branches_is_a_divergence_beside_those(at: tuple[int, int]) -> None:
    backend = reference(TORCH, {})
    promise = Promise(CORRELATED, backend.info)
    *before, last = precise(CORRELATED, backend, promise.outcome).observations
    assert isinstance(last, Computed)
    (value,) = last.values
    assert value is not None
    value.array[at] += 1e-3
    actual = replace(promise.outcome, observations=[*before, last])
    assert judge(promise, actual).bucket is Bucket.DIVERGED


def test_a_place_that_matters_for_a_later_tensor_alone_is_asked_again() -> None:
    """The second place decides the first tensor, and only where that is right it shows that the first place decides the other one."""

    def left_on(branches: list[Any]) -> Left | None:
        wrong = [slot for slot, branch in enumerate(reversed(branches)) if not branch.all()]
        if not wrong:
            return None
        found = Mismatch(0, "value", "result", "right", "wrong", "", "", wrong[0], np.ones(1), np.zeros(1))
        return Left(found, np.array([True]))

    places = [Place(((number, np.array([True])),), ((np.zeros(1),), (np.ones(1),))) for number in range(2)]
    assert descended(left_on, [np.zeros(1), np.zeros(1)], places) is True
