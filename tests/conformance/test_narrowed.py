"""Entries that excused more than they say, each with the engine that it no longer excuses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from conformance.backends import BackendInfo
from conformance.case.case import Case, Input
from conformance.case.files import read
from conformance.case.outcome import Outcome, Raised, Value
from conformance.case.steps import Grad, Op
from conformance.compare.promise import Promise
from conformance.deviations.asked import an_output_or_below
from conformance.deviations.entries import known
from conformance.deviations.findings import evidence
from conformance.judge.verdict import Bucket, judge
from reference_impl import PADDLE

INFO = BackendInfo("paddle", "3.3.1", PADDLE, PADDLE.not_offered)
X, W = Input("x", (2,), (2.0, 3.0)), Input("w", (2,), (5.0, 7.0))


def aborted(promise: Promise, left: float) -> Outcome:
    """Return what an engine answers whose aborted pass leaves this in ``w.grad``."""
    observations = [*promise.outcome.observations]
    seen = observations[4]
    assert isinstance(seen, Raised)
    assert seen.state is not None
    value = Value(np.array(left, np.float32), requires_grad=False)
    state = tuple(value if name == "w" else v for name, v in zip(promise.case.watched, seen.state, strict=True))
    observations[4] = replace(seen, state=state)
    return replace(promise.outcome, observations=observations)


@pytest.mark.parametrize(("more", "bucket"), [(0.0, Bucket.UNPROMISED), (1.0, Bucket.DIVERGED)], ids=["whole", "and another term"])
def test_an_aborted_pass_has_left_a_whole_gradient(more: float, bucket: Bucket) -> None:
    promise = Promise(read(evidence("paddle-composite-order")), INFO)
    assert bucket == judge(promise, aborted(promise, float(np.exp(np.float32(2.0))) + more)).bucket


@pytest.mark.parametrize(("asked", "may"), [("y", True), ("x", True), ("w", False)])
def test_beside_an_output_that_is_an_input_only_what_lies_below_it_is_lost(asked: str, may: bool) -> None:
    call = Grad(("z", "y"), ("y", asked), ("g", "h"))
    case = Case((X, W), (Op("mul", ("x", "x"), ("y",)), Op("mul", ("y", "w"), ("z",)), call), "exact")
    assert [True, may] == [an_output_or_below(case, 2, slot) for slot in (0, 1)]
    (entry,) = (one for one in known() if one.id == "paddle-output-among-inputs")
    assert entry.only == "an output, or what lies below one"
