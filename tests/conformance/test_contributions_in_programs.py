"""Which contribution to a part of a split a call of a program may return in the place of their sum: one, told by the program."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from conformance.backends import BackendInfo
from conformance.case.case import Case, Input
from conformance.case.outcome import Value
from conformance.case.steps import Grad, Op, Step
from conformance.compare.promise import Promise
from conformance.judge.verdict import Bucket, judge
from reference_impl import PADDLE_STATIC

INFO = BackendInfo("paddle-static", "3.3.1", PADDLE_STATIC, PADDLE_STATIC.not_offered)
SPLIT = Op("split", ("x",), ("a", "b"), {"axis": 0, "sections": [1, 1]})
TERMS = (SPLIT, Op("square", ("a",), ("y",)), Op("mul_scalar", ("a",), ("z",), {"other": 3.0}))
"""At a = 2 the gradient of the first term is 4, and that of the second 3."""


def bucket(steps: tuple[Step, ...], got: float) -> Bucket:
    """What is judged of an engine that answers the right things, but for this number in the last call."""
    promise = Promise(Case((Input("x", (2,), (2.0, 5.0)),), steps, "exact"), INFO)
    *before, last = promise.outcome.observations
    wrong = replace(last, values=(Value(np.array([got], np.float32), requires_grad=True),))
    return judge(promise, replace(promise.outcome, observations=[*before, wrong])).bucket


@pytest.mark.parametrize(("terms", "first", "other"), [(("y", "z"), 4.0, 3.0), (("z", "y"), 3.0, 4.0)])
def test_it_is_that_of_the_operator_that_the_targets_lead_to_first(terms: tuple[str, str], first: float, other: float) -> None:
    steps = (*TERMS, Op("add", terms, ("t",)), Grad(("t",), ("a",), ("g",)))
    assert [Bucket.KNOWN_DEVIATION, Bucket.DIVERGED] == [bucket(steps, got) for got in (first, other)]


@pytest.mark.parametrize(("got", "ends"), [(4.0, Bucket.DIVERGED), (3.0, Bucket.KNOWN_DEVIATION), (7.0, Bucket.AGREED)])
def test_of_two_targets_that_of_the_one_behind_the_other_comes_first(got: float, ends: Bucket) -> None:
    steps = (*TERMS, Op("mul_scalar", ("y",), ("u",), {"other": 1.0}), Grad(("u", "z"), ("a",), ("g",)))
    assert ends == bucket(steps, got)


@pytest.mark.parametrize(("got", "ends"), [(1.0, Bucket.KNOWN_DEVIATION), (3.0, Bucket.DIVERGED)])
def test_a_sum_of_contributions_is_gone_through_as_one_operator(got: float, ends: Bucket) -> None:
    square, product = Op("square", ("a",), ("y",)), Op("mul", ("a", "a"), ("z",))
    added, first = Op("add", ("z", "y"), ("t",)), Grad(("t",), ("x",), ("g",), create_graph=True)
    assert ends == bucket((SPLIT, square, product, added, first, Grad(("g",), ("a",), ("h",))), got)


@pytest.mark.parametrize(("got", "ends"), [(3.0, Bucket.KNOWN_DEVIATION), (1.0, Bucket.DIVERGED)])
def test_an_op_that_gives_a_list_is_gone_through_behind_what_takes_the_parts_out_of_it(got: float, ends: Bucket) -> None:
    parts, product = Op("unbind", ("a",), ("p",), {"axis": 0}), Op("mul_scalar", ("a",), ("z",), {"other": 3.0})
    assert ends == bucket((SPLIT, parts, product, Op("add", ("p", "z"), ("t",)), Grad(("t",), ("a",), ("g",))), got)
