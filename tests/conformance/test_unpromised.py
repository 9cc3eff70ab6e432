"""What a framework does where no document says what is right breaks no promise, and is counted apart from what does."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest

from conformance.backends import BackendInfo
from conformance.campaign.findings.explain import explain_case
from conformance.case.case import Case, Input
from conformance.case.files import read
from conformance.case.outcome import Raised
from conformance.case.steps import Backward, Hook, Op
from conformance.cli.gate import beside_others
from conformance.compare.promise import Promise
from conformance.deviations.entries import known
from conformance.deviations.findings import evidence
from conformance.judge.verdict import Bucket, bucket_of_known, judge
from conformance.report.tables import deviations_of
from conformance.report.view import view_of
from reference_impl import TORCH
from tests.conformance.engines import TOTAL
from tests.report.samples import FOOTER, HEADER, finding

if TYPE_CHECKING:
    from conformance.deviations.entries import Deviation

UNPROMISED = [entry for entry in known() if entry.unpromised]


@pytest.mark.frameworks
@pytest.mark.parametrize("entry", [entry for entry in UNPROMISED if entry.backend == "torch"], ids=lambda entry: entry.id)
def test_a_case_that_breaks_no_promise_agrees_in_a_bucket_of_its_own(entry: Deviation) -> None:
    explained = explain_case(beside_others(read(evidence(entry.finding))), entry.backend)
    broken = [one for one in known() if one.id in explained.verdict.deviations and not one.unpromised]
    assert (Bucket.KNOWN_DEVIATION if broken else Bucket.UNPROMISED) == explained.verdict.bucket


@pytest.mark.parametrize(
    ("entries", "bucket"),
    [
        (("torch-grad-aliases-seed",), Bucket.UNPROMISED),
        (("torch-grad-aliases-seed", "torch-grad-not-writable"), Bucket.UNPROMISED),
        (("torch-grad-aliases-seed", "torch-seed-mutated"), Bucket.KNOWN_DEVIATION),
    ],
)
def test_beside_a_broken_promise_it_is_a_known_deviation(entries: tuple[str, ...], bucket: Bucket) -> None:
    assert bucket is bucket_of_known(entries)


def test_a_backward_that_ends_early_takes_no_gradient_away_that_was_there_before() -> None:
    steps = (
        Op("sum", ("x",), ("y",), TOTAL),
        Backward(("y",)),
        Op("exp", ("x",), ("e",)),
        Op("sum", ("e",), ("z",), TOTAL),
        Hook("e", ("k",), "error"),
        Backward(("z",)),
    )
    promise = Promise(Case((Input("x", (2,), (1.0, 2.0)),), steps), BackendInfo("torch", "2.13.0", TORCH, TORCH.not_offered))
    *before, ended = promise.outcome.observations
    assert isinstance(ended, Raised)
    cleared = replace(promise.outcome, observations=[*before, replace(ended, state=(None,))], final=(None,))
    assert (Bucket.AGREED, Bucket.DIVERGED) == (judge(promise, promise.outcome).bucket, judge(promise, cleared).bucket)


def test_it_is_no_known_deviation_of_the_page_but_a_convention() -> None:
    info = {name: msgspec.structs.replace(one, unpromised=True) for name, one in FOOTER.deviation_info.items()}
    footer = msgspec.structs.replace(FOOTER, deviation_info=info)
    page = view_of([HEADER, finding(), footer])
    assert ([], [*info]) == (page.deviations, [known.id for known in deviations_of(footer, unpromised=True)])
    assert page.followed
