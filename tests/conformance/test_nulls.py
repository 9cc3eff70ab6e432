"""Null pairs: both sides are right, really differ in their roundings, and are not told apart by this judge, but by a stricter one."""

from __future__ import annotations

import copy
import functools
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from unittest import mock

import msgspec
import numpy as np
import pytest

from conformance.backends import open_backend
from conformance.backends.reference import ReferenceEngine
from conformance.campaign.records import NullRecord
from conformance.campaign.records.tally import NullTally, Tally
from conformance.campaign.workers.trial import run_case
from conformance.case.case import Case, Input
from conformance.case.files import decode, encode
from conformance.case.outcome import Computed
from conformance.case.steps import Grad, Hook, Op, ops
from conformance.compare import compare
from conformance.compare import rounding as disturbance
from conformance.generate.scripts import DrawOptions, case_of
from conformance.judge import nulls
from conformance.judge.nulls import (
    OF_A_DTYPE,
    OF_REFERENCE,
    Pair,
    against_itself,
    compare_nulls,
    compare_pair,
    null_pairs,
    strided,
    upper_bound,
)
from conformance.laws.judging import Judging, Sampling
from conformance.mutants.mutant import WrongEngine, patch
from conformance.mutants.registry import mutant
from reference_impl import OPS, TORCH
from reference_impl.dialects.conventions import Kind, OpenChoice
from reference_impl.tape.primitive import Observation, Primitive
from tests.conformance.drawn import Drawn
from tests.conformance.engines import EXACT, NUMERIC, TOTAL
from tests.wrong_engines import correct

if TYPE_CHECKING:
    from conformance.backends import Backend
    from conformance.campaign.records import CaseRecord
    from conformance.case.outcome import Outcome

pytestmark = pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")
OF_COMPLEX = Drawn(2, 200, DrawOptions(("numeric",), complexes=1.0))
REAL = Drawn(2, 120, DrawOptions(("numeric",)))


@functools.cache
def cases() -> list[Case]:
    return [*REAL, *OF_COMPLEX]


@functools.cache
def backend(name: str) -> Backend:
    return open_backend(name)


def params(but: str = "") -> list[Any]:
    needs = {"torch": pytest.mark.frameworks}
    return [pytest.param(pair, id=pair.id, marks=needs.get(pair.backend, ())) for pair in null_pairs() if pair.id != but]


def arrays(outcome: Outcome) -> list[Any]:
    seen = [v for o in outcome.observations if isinstance(o, Computed) for v in o.values]
    return [v.array for v in seen if v is not None]


def differing(pair: Pair, case: Case) -> bool:
    first = backend(pair.backend).run(case)
    again = pair.again(case, backend(pair.backend), first)
    pairs = zip(arrays(first), arrays(again), strict=True)
    return any(not np.array_equal(a, b, equal_nan=True) for a, b in pairs)


@pytest.mark.parametrize("pair", params(but="layout"))
def test_the_sides_of_a_pair_differ_in_some_of_their_bits(pair: Pair) -> None:
    assert any(differing(pair, case) for case in cases() if pair.fits(case))


@pytest.mark.parametrize("pair", params(but="layout"))
def test_every_pair_fits_complex_cases_and_differs_there(pair: Pair) -> None:
    assert any(differing(pair, case) for case in OF_COMPLEX if pair.fits(case))


def test_the_layout_of_the_reference_is_another_whether_or_not_the_loops_of_numpy_round_otherwise_there() -> None:
    entry = strided(NUMERIC).inputs[0]
    assert (False, True) == (entry.array().flags.c_contiguous, NUMERIC.inputs[0].array().flags.c_contiguous)


IN_ORDER = {
    *("cumsum", "cumprod", "logcumsumexp", "running_shares"),  # the order of the terms is what the op means
    "cross",  # each element is the difference of two products, which has one order
    *(
        "backward_stable",
        "cholesky",
        "det",
        "det_by_values",
        "inv",
        "lu",
        "matrix_exp",
        "settled",
        "settled_pair",
        "slogdet",
    ),  # LAPACK sums
}
"""Ops whose sums cannot be had in the opposite order."""


def test_every_op_that_sums_says_what_its_sum_is_in_the_opposite_order() -> None:
    summing = {name: op for name, op in OPS.items() if isinstance(op, Primitive) and op.summands is not None}
    assert {name for name, op in summing.items() if op.reordered is None} == IN_ORDER


@pytest.mark.parametrize("pair", OF_REFERENCE, ids=lambda pair: pair.id)
def test_the_judge_does_not_tell_the_sides_of_a_pair_apart(pair: Pair) -> None:
    found = [compare_pair(pair, case, backend(pair.backend)) for case in cases() if pair.fits(case)]
    assert (True, []) == (sum(n.verdict.counts["values"] for n in found) > 500, [n.verdict.mismatch for n in found if n.alarm])


@pytest.mark.parametrize("pair", [p for p in null_pairs() if p.id != "layout"], ids=lambda pair: pair.id)
def test_a_judge_without_tolerance_raises_false_alarms(pair: Pair) -> None:
    if pair.backend == "torch":
        pytest.importorskip("torch")
    with mock.patch.object(disturbance, "UNITS", 0.0), mock.patch.object(compare, "agrees_cheaply", return_value=False):
        assert any(compare_pair(pair, case, backend(pair.backend)).alarm for case in cases() if pair.fits(case))


def _unread(outcome: Outcome) -> Outcome:
    outcome = copy.deepcopy(outcome)
    seen = next(o for o in outcome.observations if isinstance(o, Computed) and o.values)
    seen.values = tuple(
        None if v is None else replace(v, array=np.empty(0), unreadable="RuntimeError: no elements") for v in seen.values
    )
    return outcome


def test_what_neither_side_shows_is_no_false_alarm() -> None:
    first = _unread(backend("reference").run(NUMERIC))
    same = Pair("same", "reference", "nothing is different", lambda _: True, lambda _case, _engine, one: one)
    assert not compare_pair(same, NUMERIC, backend("reference"), first).alarm


@pytest.mark.parametrize("shown", [0, 1])
def test_what_one_side_alone_shows_is_told_apart(shown: int) -> None:
    right = backend("reference").run(NUMERIC)
    sides = (right, _unread(right)) if shown == 0 else (_unread(right), right)
    pair = Pair("unread", "reference", "one side is not shown", lambda _: True, lambda *_: sides[1])
    assert compare_pair(pair, NUMERIC, backend("reference"), sides[0]).alarm


@pytest.mark.parametrize("name", OF_A_DTYPE)
def test_an_op_that_is_another_in_a_wider_dtype_is_in_no_pair_of_precisions(name: str) -> None:
    drawn = (case_of(1, i, DrawOptions(("numeric",), ops=(name,))) for i in range(400))
    case = next(c for c in drawn if {i.dtype for i in c.inputs} == {"float32"} and _uses(c, name) and not _has_hooks(c))
    assert not [pair.id for pair in null_pairs() if "precision" in pair.id and pair.fits(case)]


def _uses(case: Case, name: str) -> bool:
    return any(op.op == name for step in case.steps for op in ops(step))


def _has_hooks(case: Case) -> bool:
    return any(isinstance(step, Hook) for step in case.steps)


def test_nobody_reorders_sums_afterwards() -> None:
    next(p for p in OF_REFERENCE if p.id == "sum-order").again(NUMERIC, backend("reference"), backend("reference").run(NUMERIC))
    assert Observation.observer is None


def test_the_exact_lane_needs_no_null_pair() -> None:
    assert not compare_nulls(EXACT, correct().info, {}, every=True)


def test_one_pair_is_judged_unless_every_one_is_asked_for() -> None:
    fitting = [pair for pair in OF_REFERENCE if pair.fits(NUMERIC)]
    found = [len(compare_nulls(NUMERIC, correct().info, {}, every=every)) for every in (False, True)]
    assert [1, len(fitting)] == found


def test_a_backend_that_deviates_on_a_case_is_in_no_pair() -> None:
    wrong = mutant("mul-x-wrong_operand").open()
    case = next(c for c in cases() if run_case(c, [wrong]).verdicts[wrong.info.name].bucket == "diverged")
    names = {pair.backend for pair in null_pairs()}
    record = run_case(case, [wrong], Judging(nulls=Sampling.EVERY))
    assert {null.pair for null in record.nulls} <= {p.id for p in OF_REFERENCE} < {p.id for p in null_pairs()}
    assert "torch" in names


_leaf = ReferenceEngine.leaf


def _reversed_if_strided(adapter: ReferenceEngine, entry: Input) -> Any:
    return _leaf(adapter, msgspec.structs.replace(entry, data=entry.data[::-1]) if entry.strided is True else entry)


def _rearranged(monkeypatch: pytest.MonkeyPatch, engine: Backend) -> CaseRecord:
    monkeypatch.setattr(nulls, "null_pairs", lambda: against_itself(engine.info.name, "an engine"))
    return run_case(NUMERIC, [engine], Judging(nulls=Sampling.EVERY))


def test_an_engine_that_is_wrong_in_another_arrangement_is_a_finding_and_no_false_alarm(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = WrongEngine("strides", patch((ReferenceEngine, "leaf", _reversed_if_strided)))
    record = _rearranged(monkeypatch, engine)
    assert record.case is not None
    assert ("diverged", [], {True}) == (
        record.verdicts["strides"].bucket,
        [null.pair for null in record.nulls if null.alarm],
        {entry.strided for entry in record.case.inputs},
    )


def test_the_finding_of_another_arrangement_shows_again_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = WrongEngine("strides", patch((ReferenceEngine, "leaf", _reversed_if_strided)))
    case = _rearranged(monkeypatch, engine).case
    assert case is not None
    assert run_case(decode(encode(case)), [engine]).verdicts["strides"].bucket == "diverged"


def test_where_both_sides_are_right_an_alarm_is_that_of_the_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = replace(against_itself("correct", "an engine")[0], again=lambda case, _, first: doubled(first))
    monkeypatch.setattr(nulls, "null_pairs", lambda: (pair,))
    record = run_case(NUMERIC, [correct()], Judging(nulls=Sampling.EVERY))
    assert [("correct-layout", True)] == [(null.pair, null.alarm) for null in record.nulls]


def doubled(outcome: Outcome) -> Outcome:
    outcome = copy.deepcopy(outcome)
    outcome.observations[-1].values[0].array[...] *= 2  # type: ignore[union-attr]
    return outcome


def test_an_engine_that_decided_an_open_choice_otherwise_is_bounded_by_a_run_that_did_so_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """By its own choice the reference refuses the second pass, and so has no number there that rounding could move."""
    sine = (Op("sin", ("x",), ("y",)), Op("sum", ("y",), ("z",), TOTAL))
    case = Case((Input("x", (2,), (0.5, 1.5)),), (*sine, Grad(("z",), ("x",), ("g",)), Grad(("z",), ("x",), ("h",))))
    kept = {OpenChoice(Kind.FREED, "sin", "x"): "computed"}
    engine = WrongEngine("keeps", behaves=replace(TORCH, conventions=TORCH.conventions.but(kept)))
    engine.info = replace(engine.info, version="1.0")  # of which nothing was measured
    pair = replace(against_itself("keeps", "an engine")[0], again=lambda case, _, first: moved(first))
    monkeypatch.setattr(nulls, "null_pairs", lambda: (pair,))
    record = run_case(case, [engine], Judging(nulls=Sampling.EVERY))
    assert [("keeps-layout", False)] == [(null.pair, null.alarm) for null in record.nulls]


def moved(outcome: Outcome) -> Outcome:
    """Return an outcome whose last number is off by some roundings, more than are accepted without a derivation."""
    outcome = copy.deepcopy(outcome)
    outcome.observations[-1].values[0].array[...] *= 1 + 6 * np.finfo(np.float32).eps  # type: ignore[union-attr]
    return outcome


def test_a_false_alarm_is_a_fault_of_the_suite() -> None:
    tally = Tally(["correct"])
    for case in cases()[:20]:
        tally.add(run_case(case, [correct()]))
    tally.nulls.add(NullRecord("layout", "float32", 7, alarm=True, near_kink=False))
    assert ("suite_error", ["null pair layout: 1 false alarm"]) == tally.verdict()


def test_the_tally_sums_by_pair_and_dtype() -> None:
    tally = NullTally()
    for dtype in ("float32", "float64", "float32"):
        tally.add(NullRecord("layout", dtype, 5, alarm=False, near_kink=True))
    found = tally.summary()
    assert (15, 3, {"layout": {"float32": 10, "float64": 5}}) == (found.comparisons, found.near_kink, found.pairs)


@pytest.mark.parametrize(
    ("alarms", "comparisons", "bound"),
    [(0, 1, 0.95), (0, 59, 0.0495), (1, 10, 0.3942), (0, 1_000_000, 2.9957e-6), (3, 1_000_000, 7.7537e-6), (2, 2, 1.0), (0, 0, 1.0)],
)
def test_the_bound_is_the_one_of_clopper_and_pearson(alarms: int, comparisons: int, bound: float) -> None:
    assert upper_bound(alarms, comparisons) == pytest.approx(bound, rel=1e-3)


@pytest.mark.parametrize("name", ["precision", "torch-precision"])
def test_a_wider_computation_takes_the_numbers_of_the_narrow_one(name: str) -> None:
    """The logarithm of 1.001 in float64 is not what rounding makes of that of the float32 next to it."""
    pair = next(p for p in null_pairs() if p.id == name)
    if pair.backend == "torch":
        pytest.importorskip("torch")
    steps = (Op("clamp", ("x",), ("y",), {"low": 1.001, "high": 2.0}), Op("log", ("y",), ("z",)), Grad(("z",), ("x",), ("g",), ("x",)))
    assert not compare_pair(pair, Case((Input("x", (1,), (0.5,)),), steps), backend(pair.backend)).alarm
