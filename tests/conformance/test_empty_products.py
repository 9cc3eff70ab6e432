"""Second derivatives of products over no terms, in programs: which of them are what lay in memory, and which have to be zeros."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from conformance.backends import BackendInfo
from conformance.case.case import Case, Input
from conformance.case.outcome import Computed, Value
from conformance.case.steps import Grad, Op
from conformance.compare.promise import Promise
from conformance.deviations.counterfactuals.rules import RULES
from conformance.judge.verdict import Bucket, judge
from reference_impl import PADDLE_STATIC

INFO = BackendInfo("paddle-static", "3.3.1", PADDLE_STATIC, PADDLE_STATIC.not_offered)
CALLS = {
    "in what arrives, over an inner dimension of 0": ((2, 0), (0, 2), "x", "s", True),
    "in what arrives at the second factor, over an inner dimension of 0": ((2, 0), (0, 2), "y", "s", True),
    "in what arrives, over an inner dimension of 0 of vectors": ((0,), (0,), "x", "s", True),
    "in the first factor, beside one without columns": ((2, 3), (3, 0), "y", "x", True),
    "in what arrives, over an inner dimension of 1": ((2, 1), (1, 2), "x", "s", False),
    "in the second factor, beside one without rows": ((0, 3), (3, 2), "x", "y", False),
    "in the second factor, beside rows without elements": ((2, 0, 3), (3, 2), "x", "y", False),
    "in the first factor, beside one with columns": ((2, 3), (3, 2), "y", "x", False),
}


def twice(x: tuple[int, ...], y: tuple[int, ...], first: str, second: str) -> Promise:
    """What is promised of the derivative, in ``second``, of the derivative of a product in ``first``."""
    shapes = {"x": x, "y": y, "s": (*x[:-1], *y[1:])}
    leaves = tuple(Input(name, shape, (1.0,) * math.prod(shape)) for name, shape in shapes.items())
    calls = Grad(("z",), (first,), ("g",), ("s",), create_graph=True), Grad(("g",), (second,), ("h",), create_graph=True)
    return Promise(Case(leaves, (Op("matmul", ("x", "y"), ("z",)), *calls), "exact"), INFO)


def last(promise: Promise) -> Any:
    """The numbers of the last step."""
    *_, seen = promise.outcome.observations
    assert isinstance(seen, Computed)
    (value,) = seen.values
    assert value is not None
    return value.array


@pytest.mark.parametrize(("x", "y", "first", "second", "unwritten"), CALLS.values(), ids=CALLS)
def test_a_derivative_over_no_terms_is_what_lay_in_memory_unless_its_first_factor_is_transposed(
    x: tuple[int, ...], y: tuple[int, ...], first: str, second: str, unwritten: bool
) -> None:
    (change,) = RULES["as if second gradients over no terms were not written"](())
    with change:
        assert np.isnan(last(twice(x, y, first, second))).all() == unwritten


@pytest.mark.parametrize(("x", "y", "first", "second", "unwritten"), CALLS.values(), ids=CALLS)
def test_an_engine_with_another_number_there_is_excused_where_nothing_is_written_and_nowhere_else(
    x: tuple[int, ...], y: tuple[int, ...], first: str, second: str, unwritten: bool
) -> None:
    promise = twice(x, y, first, second)
    came = Computed((Value(last(promise) + np.float32(6e31), requires_grad=True),), None)
    actual = replace(promise.outcome, observations=[*promise.outcome.observations[:-1], came])
    assert (Bucket.KNOWN_DEVIATION if unwritten else Bucket.DIVERGED) == judge(promise, actual).bucket
