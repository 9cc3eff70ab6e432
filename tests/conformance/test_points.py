"""The sweep of the special points: it asks every op, agrees with itself, and catches what is wrong at a single point."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from rich.console import Console

from conformance.backends.reference import reference
from conformance.campaign.options import Options
from conformance.campaign.sweep import sweep, sweep_op
from conformance.campaign.workers.pool import Workers
from conformance.case.steps import Op
from conformance.cli.gate import check_points
from conformance.compare.promise import impossible
from conformance.generate.special_points import COPIES, cases_of, is_packed, single, special
from conformance.mutants.wrong_rule import rule_fault
from conformance.ops import catalogue
from conformance.report.terminal import Checked
from reference_impl import OPS, TORCH
from reference_impl.tape.primitive import array_of
from tests.wrong_engines import WrongEngine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.backends.interpreter import Interpreter


@contextmanager
def _forward(op: str, wrong: Any) -> Iterator[None]:
    primitive = OPS[op]
    before = primitive.forward  # type: ignore[attr-defined]
    primitive.forward = lambda x, **attrs: np.where(wrong(x), 0.0, before(x, **attrs)).astype(x.dtype)  # type: ignore[attr-defined]
    try:
        yield
    finally:
        primitive.forward = before  # type: ignore[attr-defined]


def swallows_nan() -> WrongEngine:
    return WrongEngine("swallows_nan", lambda: _forward("relu", np.isnan))


def dies_of_relu() -> WrongEngine:
    return WrongEngine("dies_of_relu", lambda: _forward("relu", lambda _: os._exit(1)))


def flushes_subnormals() -> WrongEngine:
    return WrongEngine("flushes_subnormals", lambda: _forward("sqrt", lambda x: np.abs(x) < np.finfo(x.dtype).tiny))


def loses_infinity_in_vectors() -> WrongEngine:
    return WrongEngine("loses_infinity_in_vectors", lambda: _forward("sqrt", lambda x: np.isposinf(x) & _in_vectors(x)))


def _in_vectors(x: Any) -> Any:
    return np.arange(x.size).reshape(x.shape) < x.size // COPIES * COPIES


def loses_large_margins() -> WrongEngine:
    return WrongEngine("loses_large_margins", lambda: _forward("soft_margin", lambda x: np.abs(x) > 100.0))


@pytest.mark.parametrize("op", list(catalogue()))
def test_every_op_is_asked_at_special_points_to_second_order_in_both_dtypes(op: str) -> None:
    cases = [case for _, case in cases_of(op)]
    assert {2, 3} <= {min(3, len(case.steps)) for case in cases}
    dtypes = {"complex64", "complex128"} if catalogue()[op].numbers.taken == "complex" else {"float32", "float64"}
    assert dtypes == {case.inputs[0].dtype for case in cases}


def test_weights_that_must_not_be_negative_are_not() -> None:
    weights = [entry.array() for _, case in cases_of("cov_weighted") for entry in case.inputs if entry.name == "x1"]
    assert weights
    assert all(array.min() >= 0 for array in weights)


@pytest.mark.parametrize("op", ["exp", "prod", "maximum", "softmax", "matmul"])
def test_the_reference_agrees_with_itself(op: str) -> None:
    found = sweep_op("reference", op)
    assert [] == list(found.failures)
    assert {"agreed"} == set(found.points)


def test_the_values_of_a_dtype_reach_both_ends_of_its_range() -> None:
    values = np.array(special("float32"), np.float32)
    assert np.finfo(np.float32).smallest_subnormal in values
    assert np.finfo(np.float32).max in values
    assert np.isnan(values).any()
    assert np.signbit(values[values == 0]).any()


@pytest.mark.parametrize("name", [name for name in catalogue() if is_packed(name)])
def test_a_place_can_be_run_alone(name: str) -> None:
    assert not [title for title, case in cases_of(name) if impossible(single(case, 0)) is not None]


def test_a_place_is_cut_out_whole() -> None:
    case = next(case for _, case in cases_of("prod"))
    part = single(case, 5)
    assert is_packed("prod")
    assert np.array_equal(np.tile(case.inputs[0].array()[5], (COPIES, 1)), part.inputs[0].array(), equal_nan=True)


def test_a_place_of_a_loss_has_its_target() -> None:
    case = next(case for _, case in cases_of("soft_margin_loss"))
    targets = case.steps[0].attrs["target"]  # type: ignore[union-attr]
    assert [[targets[5]] * COPIES] == [step.attrs["target"] for step in single(case, 5).steps if isinstance(step, Op)]


def test_an_engine_that_is_wrong_where_a_margin_is_large_is_caught_and_the_target_is_named() -> None:
    found = sweep_op("tests.conformance.test_points:loses_large_margins", "soft_margin_loss")
    assert found.points["diverged"] > 0
    assert all("target = " in line for line in found.failures)


@pytest.mark.parametrize(
    ("engine", "op", "place"),
    [("swallows_nan", "relu", "nan"), ("flushes_subnormals", "sqrt", "1.4012"), ("loses_infinity_in_vectors", "sqrt", "inf")],
)
def test_an_engine_that_is_wrong_at_one_point_is_caught_and_the_point_is_named(engine: str, op: str, place: str) -> None:
    found = sweep_op(f"tests.conformance.test_points:{engine}", op)
    assert found.points["diverged"] > 0
    assert all(f"x0 = {place}" in line for line in list(found.failures) if "float32" in line)


def test_an_engine_that_is_wrong_at_one_point_turns_the_gate_red(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.cli.gate.sweep", partial(sweep, ops=("relu", "sqrt", "sin")))
    options = Options(("tests.conformance.test_points:swallows_nan",), jobs=2)
    checked = Checked()
    check_points(options, checked, Console(quiet=True))
    assert checked.broken
    assert all(": relu, order" in line for line in checked.broken)


def without_sin() -> Interpreter:
    return reference(TORCH, {**TORCH.not_offered, "op:sin": "it has none"})


def test_points_of_an_op_that_is_not_offered_do_not_count_as_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.cli.gate.sweep", partial(sweep, ops=("sin",)))
    checked = Checked()
    check_points(Options(("tests.conformance.test_points:without_sin",), jobs=1), checked, Console(quiet=True))
    (said,) = checked.measures
    assert re.fullmatch(r"points 0/0, [1-9]\d* not offered", said)


@pytest.mark.frameworks
def test_an_op_whose_deaths_are_known_by_their_frames_is_no_failure() -> None:
    with Workers(("paddle",), 1) as workers:
        (swept,) = sweep(["paddle"], workers, ["qr_triangle"])
    assert ((), {"paddle-qr-one-factor-crash"}) == (swept.failures, set(swept.deviations))


def test_an_op_that_ends_the_process_otherwise_is_a_failure() -> None:
    with Workers((), 1) as workers:
        (swept,) = sweep(["tests.conformance.test_points:dies_of_relu"], workers, ["relu"])
    assert swept.failures
    assert all(line.endswith(": crashed") for line in swept.failures)


BY_BACKWARD = replace(TORCH, not_offered={**TORCH.not_offered, "step:grad": "there is backward alone"})


def without_grad() -> Interpreter:
    return reference(BY_BACKWARD, BY_BACKWARD.not_offered)


def drops_the_slope_at_infinity_without_grad() -> WrongEngine:
    return WrongEngine("drops_the_slope_at_infinity_without_grad", rule_fault("relu", 0, _dropped_at_infinity), BY_BACKWARD)


def _dropped_at_infinity(rule: Callable[..., Any], g: Any, out: Any, x: Any) -> Any:
    return np.where(np.isposinf(array_of(x)), 0.0, rule(g, out, x)).astype(x.dtype)


def test_an_engine_that_has_backward_alone_is_asked_for_first_derivatives_at_special_points() -> None:
    found = sweep_op("tests.conformance.test_points:without_grad", "relu")
    assert found.points.keys() == {"agreed", "not_offered"}


def test_a_gradient_that_is_wrong_at_one_point_is_caught_in_an_engine_that_has_backward_alone() -> None:
    found = sweep_op("tests.conformance.test_points:drops_the_slope_at_infinity_without_grad", "relu")
    assert found.failures
    assert all("x0 = inf" in line for line in found.failures)
