"""Reproductions: scripts that fail where a bug shows, come to their end where none does, and assert nothing that nobody promises."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest

from conformance.backends.repro import script
from conformance.backends.repro.claims import Elements, Open, Presence, Promised, Refusal, Unchanged
from conformance.campaign.findings.explain import explain_case
from conformance.campaign.findings.write_up import difference
from conformance.case.case import Case, Input
from conformance.case.files import read
from conformance.case.steps import Backward, Grad, Hook, Op
from conformance.compare.mismatch import Mismatch
from conformance.compare.promise import Promise
from conformance.deviations.findings import evidence
from conformance.generate.scripts import DrawOptions, case_of
from conformance.judge.dispute import Blame, Opinion, Vote
from conformance.judge.reproduction import promised_of, reproduction
from conformance.judge.step_claims import tolerances
from conformance.judge.verdict import AGREEING
from conformance.report.catalogue.verify import Showing, said_by
from tests.conformance.engines import EXACT, INFO, NUMERIC, TOTAL

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.backends.repro.claims import Claim
    from conformance.campaign.workers.pool import Workers

X = Input("x", (2,), (1.0, 2.0))


def claims(case: Case, found: Mismatch | None = None) -> tuple[Claim, ...]:
    return promised_of(Promise(case, INFO), found).claims


def agrees(workers: Workers, case: Case, framework: str) -> bool:
    explained = workers.call(explain_case, case, framework)
    return explained is not None and explained.verdict.bucket in AGREEING


# For real.

SHOWN = {
    "torch": ["torch-silu-underflow", "torch-polar-linked", "torch-seed-mutated", "torch-too-many-seeds"],
    "paddle": ["paddle-output-beside-input", "paddle-softmax-clipped", "paddle-hook-checked-late", "paddle-grad-never-frees"],
    "paddle-static": ["paddle-static-targets-coincide", "paddle-static-callbacks-never-called"],
}


@pytest.mark.parametrize(("framework", "finding"), [(name, finding) for name, shown in SHOWN.items() for finding in shown])
def test_the_script_of_a_finding_says_what_came(workers: Workers, framework: str, finding: str) -> None:
    case = read(evidence(finding))
    found = workers.call(explain_case, case, framework).verdict.mismatch
    outcome, said = workers.call(said_by, reproduction(case, framework, difference(found)))
    assert (Showing.SHOWS, True) == (outcome, bool(said)), said


@pytest.mark.parametrize("framework", ["torch", "paddle", "paddle-static"])
def test_the_script_of_a_case_that_agrees_comes_to_its_end(workers: Workers, framework: str) -> None:
    drawn = (case_of(3, index, DrawOptions(static="static" in framework)) for index in range(30))
    agreeing = list(islice((case for case in drawn if agrees(workers, case, framework)), 12))
    said = {text: workers.call(said_by, text) for text in (reproduction(case, framework) for case in agreeing)}
    assert not {text: answer for text, answer in said.items() if answer != (Showing.GONE, "")}
    assert sum("np.testing." in text for text in said) > 6  # or else they come to their end for nothing


@pytest.mark.parametrize("framework", ["torch", "paddle"])
def test_a_script_that_promises_another_number_fails(workers: Workers, framework: str) -> None:
    case = Case((X,), (Op("mul", ("x", "x"), ("y",)), Op("sum", ("y",), ("z",), TOTAL), Grad(("z",), ("x",), ("g",))))
    promised = promised_of(Promise(case, INFO))
    (right,) = (claim for claim in promised.claims if isinstance(claim, Elements))
    wrong = Elements(right.spot, right.expected + np.float32(1e-3), rtol=1e-6)
    said = [workers.call(said_by, script(case, framework, Promised(promised.step, (claim,))))[0] for claim in (right, wrong)]
    assert [Showing.GONE, Showing.SHOWS] == said


# What is asserted.

FIRST = Grad(("y",), ("x",), ("g",), grad_outputs=("x",), retain_graph=True)
SECOND = Case((X,), (Op("exp", ("x",), ("y",)), FIRST, Backward(("y",), ("x",))))


def test_of_a_case_the_last_call_is_asserted() -> None:
    text = reproduction(SECOND, "torch")
    assert [False, True] == ["assert g" in text, "np.testing.assert_allclose(x.grad.clone().numpy(force=True), expected, rtol=" in text]


def test_of_a_finding_nothing_is_asserted_but_what_differs() -> None:
    found = Mismatch(1, "flag", "result", "constant", "requires_grad", "g", "g")
    assert ["Flag"] == [type(claim).__name__ for claim in claims(SECOND, found)]


def test_steps_after_the_one_that_differs_are_left_out() -> None:
    found = Mismatch(1, "value", "result", "right", "wrong", "g: ...", "g")
    assert "backward" not in reproduction(SECOND, "torch", found)


def test_only_a_step_that_must_be_refused_is_tried() -> None:
    refused = Grad(("y",), ("x",), ("h",), grad_outputs=("s",))
    case = Case((X, Input("s", (3,), (1.0, 2.0, 3.0))), (Op("exp", ("x",), ("y",)), refused, Backward(("y",), ("x",))))
    text = reproduction(case, "torch")
    assert [1, True] == [text.count("try:"), "try:\n    h, = torch.autograd.grad" in text]


def test_a_refusal_that_is_promised_is_asserted() -> None:
    case = Case((X, Input("s", (3,), (1.0, 2.0, 3.0))), (Op("exp", ("x",), ("y",)), Grad(("y",), ("x",), ("g",), ("s",))))
    assert (1, True) == (sum(isinstance(c, Refusal) for c in claims(case)), "raise AssertionError(" in reproduction(case, "torch"))


def test_an_absence_is_asserted() -> None:
    case = Case((X, Input("w", (2,), (1.0, 2.0))), (Op("exp", ("x",), ("y",)), Backward(("y",), ("x",))))
    found = Mismatch(1, "absence", "grad", "absent", "present", "w.grad", "w")
    assert [False] == [claim.present for claim in claims(case, found) if isinstance(claim, Presence)]


def test_a_seed_that_was_changed_is_held_against_its_copy() -> None:
    found = Mismatch(1, "mutation", "seed", "unchanged", "changed", "elements of x changed", "x")
    assert (Unchanged("x", -1),) == claims(SECOND, found)


def test_calls_of_hooks_are_kept_where_they_are_asserted_and_nowhere_else() -> None:
    steps = (Op("exp", ("x",), ("y",)), Hook("y", ("h",), "scaled", 2.0), Backward(("y",), ("x",)))
    case = Case((X,), steps)
    found = Mismatch(2, "value", "grad", "right", "wrong", "x.grad: ...", "x")
    assert [True, False] == ["saw.append" in reproduction(case, "torch", what) for what in (None, found)]


def test_a_script_leaves_nothing_where_it_is_run(workers: Workers, tmp_path: Path) -> None:
    text = reproduction(Case((X,), (Op("exp", ("x",), ("y",)), Backward(("y",), dump_backward_graph=True))), "paddle")
    entered = f"import os\nos.chdir({str(tmp_path)!r})\n{text}"
    assert ((Showing.GONE, ""), []) == (workers.call(said_by, entered), list(tmp_path.iterdir()))


def test_the_exact_lane_is_asserted_to_the_last_bit() -> None:
    text = reproduction(msgspec.structs.replace(EXACT, steps=EXACT.steps[:3]), "torch")
    assert [True, False] == [f"assert_{how}" in text for how in ("array_equal", "allclose")]


def test_a_script_prints_what_it_asserts_and_nothing_else() -> None:
    text = reproduction(SECOND, "torch")
    assert ['print("x.grad =", x.grad)'] == [line for line in text.splitlines() if "print(" in line]


def test_the_votes_are_cited() -> None:
    votes = (Vote("the neighbours", Opinion.WRONG, Opinion.RIGHT, "they\nsaw it"),)
    found = Mismatch(1, "value", "result", "right", "wrong", "g: ...", "g")
    text = reproduction(SECOND, "torch", found, Blame("accused", votes, ""))
    assert "# So says: the neighbours (they saw it).\n# By the votes the engine is wrong.\n" in text


# What is not.


def reasons(case: Case) -> list[str]:
    return [claim.reason for claim in claims(case) if isinstance(claim, Open)]


def test_whether_a_derivative_that_vanishes_is_absent_is_not_asserted() -> None:
    first = Grad(("z",), ("x",), ("g",), grad_outputs=("w",), create_graph=True)
    second = Grad(("g",), ("x",), ("h",), grad_outputs=("w",), allow_unused=True)
    case = Case((X, Input("w", (2,), (1.0, 2.0))), (Op("abs", ("x",), ("y",)), Op("mul", ("y", "w"), ("z",)), first, second))
    assert [reason for reason in reasons(case) if reason.startswith("whether this is ")]


def test_a_number_that_zero_times_infinity_decides_is_not_asserted() -> None:
    steps = (Op("mul", ("x", "s"), ("y",)), Backward(("y",), ("t",)))
    case = Case((X, Input("s", (2,), ("inf", 3.0)), Input("t", (2,), (0.0, 1.0))), steps)
    (held,) = (claim.held for claim in claims(case) if isinstance(claim, Elements) and claim.spot.name == "x")
    assert [False, True] == held.tolist()


def test_a_number_a_rounding_away_from_a_kink_is_not_asserted() -> None:
    steps = (Op("sin", ("x",), ("y",)), Op("sub", ("y", "s"), ("z",)), Op("relu", ("z",), ("r",)), Backward(("r",), ("x",)))
    s = Input("s", (2,), tuple(float(np.sin(np.float32(x))) for x in X.data))
    assert "these numbers lie within a rounding of a kink" in reasons(Case((X, s), steps))


def test_of_a_step_that_nobody_can_run_nothing_is_asserted() -> None:
    case = Case((X, Input("w", (3,), (1.0, 2.0, 3.0))), (Op("mul", ("x", "w"), ("y",)),))
    assert (True, 1) == (reasons(case)[0].startswith("step 0 is wrong by itself"), len(claims(case)))


# Tolerances.


@pytest.mark.parametrize(
    ("sizes", "off", "narrowest"),
    [
        ([1.0, 100.0], [1e-6, 1e-4], (2e-6, 0.0)),
        ([1.0, 100.0], [1.5e-4, 1.5e-4], (0.0, 2e-4)),
        ([0.0, 1.0], [0.0, 1.7e-6], (2e-6, 0.0)),
        ([], [], (0.0, 0.0)),
    ],
    ids=["relative", "absolute", "exact at zero", "no elements"],
)
def test_a_tolerance_is_the_narrowest_of_one_digit(sizes: list[float], off: list[float], narrowest: tuple[float, float]) -> None:
    assert narrowest == tolerances(np.array(sizes), np.array(off))


def test_a_tolerance_takes_all_that_the_bounds_take() -> None:
    promise = Promise(NUMERIC, INFO)
    found = promised_of(promise)
    (claim,) = (claim for claim in found.claims if isinstance(claim, Elements))
    where = "grad" if claim.spot.where == "grad" else "result"
    centre, radius = promise.bounds.radius(found.step, 0, where)
    for edge in (centre - radius, centre + radius):
        np.testing.assert_allclose(edge, claim.expected, rtol=claim.rtol, atol=claim.atol)
