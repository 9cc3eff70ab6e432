"""Known deviations of real releases excuse what they say and nothing more: engines that do worse in the cases of their findings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conformance.case.files import read
from conformance.deviations.entries import known
from conformance.deviations.findings import evidence
from conformance.laws.judging import LAWS_TIMEOUT
from conformance.mutants.exceeding import exceed
from tests.conformance.test_known_in_programs import SEEN

if TYPE_CHECKING:
    from conformance.campaign.workers.pool import Workers
    from conformance.case.case import Case
    from conformance.mutants.exceeding import Exceeded

BESIDE_MEMORY = {"value: a little beside", "value: another factor"}
"""What is done to wrong elements alone, which may be whatever lies in a memory."""


def exceeded(entry: str, workers: Workers, given: Case | None = None) -> Exceeded:
    """Do more than an entry says, in a case, or else in that of its finding."""
    (deviation,) = (one for one in known() if one.id == entry)
    case = given or read(evidence(deviation.finding))
    (done,) = workers.calls(exceed, [((case,), deviation.backend, entry)], LAWS_TIMEOUT)
    assert done is not None
    assert done.shown
    return done


@pytest.mark.parametrize(
    ("entry", "excess"),
    [
        ("torch-triu-expanded", "error: other numbers"),
        ("torch-triu-expanded-gradient", "value: a right element"),
        ("paddle-narrow-of-view", "value: a little beside"),
        ("paddle-custom-returned-operand", "value: another factor"),
        ("paddle-custom-returned-operand", "absence: other numbers"),
        ("paddle-as-real-unbind", "shape: other numbers"),
        ("paddle-create-graph-in-no-grad", "absence: other numbers"),
        ("paddle-create-graph-in-no-grad-itself", "error: other numbers"),
        ("paddle-seed-shape-refused-later", "error: another message"),
        ("paddle-seed-shape-refused-otherwise", "error: another category"),
        ("paddle-hook-shape-refused-later", "error: in a call about other tensors"),
        ("paddle-seed-dtype-reread-linked", "dtype: other numbers"),
        ("paddle-slot-of-broadcast-seed", "value: a right element"),
        ("paddle-static-input-hides-siblings", "value: another factor"),
        ("paddle-static-slot-beside-target", "absence: other numbers"),
        ("paddle-static-slot-used-twice", "value: another factor"),
        ("paddle-slot-of-broadcast-seed-refused", "error: other numbers"),
        ("paddle-masked-fill-value-uninitialised", "value: a right element"),
        ("paddle-custom-gradient-dtype-kept", "dtype: other numbers"),
        ("paddle-amax-many-axes-uninitialised", "value: a right element"),
        ("paddle-mul-empty-double-overread", "value: a right element"),
        ("torch-group-norm-zero-tensor", "value: a right element"),
        ("torch-zero-tensor-times-nan", "value: a little beside"),
        ("paddle-slot-of-own-seed", "shape: other numbers"),
        ("paddle-seed-dtype-overread-changed", "mutation: other numbers"),
        ("paddle-identity-rule-copies-apart", "value: another factor"),
        ("paddle-unbind-seed-alone", "shape: other numbers"),
        ("paddle-unbind-seed-alone", "shape: another shape"),
        ("paddle-sigmoid-third-overwritten", "value: a little beside"),
        ("paddle-batch-norm-double-twice", "value: a little beside"),
        ("paddle-diag-embed-constant", "flag: absent instead"),
        ("paddle-clip-bound", "absence: another is absent, too"),
        ("paddle-kl-div-target", "absence: another is absent, too"),
        ("paddle-bce-target", "absence: another is absent, too"),
        ("paddle-renorm-largest", "value: a little beside"),
        ("paddle-pdist-below-one", "value: a little beside"),
        ("torch-lp-pool-partial-window", "value: a little beside"),
        ("paddle-norm-tied-largest", "value: another factor"),
        ("paddle-cummax-number", "error: another message"),
        ("torch-kl-div-target-zero", "value: a right element"),
        ("torch-native-dropout-empty-itself", "events: each call thrice"),
        ("torch-native-dropout-empty-itself", "events: no call"),
        ("torch-native-dropout-empty-reached", "absence: another shape"),
        ("torch-native-dropout-empty-detached", "error: another category"),
        ("torch-native-dropout-empty-toggle", "error: another category"),
        ("torch-batched-identity-flag", "error: another category"),
        ("torch-composite-order-refused", "error: another category"),
        ("torch-sinc-mask-freed", "error: another category"),
        ("torch-kron-strided", "error: a later call about other tensors"),
        ("paddle-strided-slice-rank", "error: a later call about other tensors"),
    ],
)
def test_an_engine_that_does_more_than_an_entry_predicts_is_caught(entry: str, excess: str, workers: Workers) -> None:
    done = exceeded(entry, workers)
    assert excess in done.tried
    assert excess not in done.excused
    assert {*done.excused} <= BESIDE_MEMORY


@pytest.mark.parametrize(
    "entry",
    [
        "torch-accumulation-refused",
        "torch-fill-expanded-backward",
        "torch-native-dropout-empty",
        "torch-solution-gradients-share",
        "torch-view-lost-after-write",
        "torch-zero-tensor",
        "paddle-constant-input",
        "paddle-gaussian-nll-variance",
        "paddle-hook-empty-slot",
        "paddle-in-place-double",
    ],
)
def test_an_entry_about_what_a_call_comes_by_says_nothing_of_a_call_about_other_tensors(entry: str, workers: Workers) -> None:
    done = exceeded(entry, workers)
    assert "error: in a call about other tensors" in done.tried
    assert "error: in a call about other tensors" not in done.excused


def test_other_numbers_than_its_seed_are_no_known_gradient_of_a_target_that_stops_gradients(workers: Workers) -> None:
    _, case = SEEN["a target that stops gradients, above another target"]
    done = exceeded("paddle-static-no-grad-target", workers, case)
    assert "absence: other numbers" in done.tried
    assert not done.excused


@pytest.mark.parametrize(
    ("entry", "name", "excess"),
    [
        ("torch-grad-aliases-seed-grad", "gradient-of-a-tile-by-ones-that-is-its-seed", "absence: other numbers"),
        ("paddle-slot-of-derivative-seed", "seed-of-the-second-factor-of-bmm-that-is-wider-than-the-first", "value: another factor"),
    ],
)
def test_an_engine_that_does_more_than_an_entry_predicts_in_a_regression_is_caught(
    entry: str, name: str, excess: str, workers: Workers
) -> None:
    done = exceeded(entry, workers, read(Path(__file__).parents[1] / "regressions" / f"{name}.json"))
    assert excess in done.tried
    assert excess not in done.excused
