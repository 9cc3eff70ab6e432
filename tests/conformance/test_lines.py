"""Shadows are computed from the notes of one run, all lines at once where that is the same."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from conformance.backends.reference import reference
from conformance.case.outcome import Outcome
from conformance.compare import shadow_values
from conformance.compare.branches import observing
from conformance.compare.history import History, Notes
from conformance.compare.promise import Promise
from conformance.compare.shadow_values import AT_ONCE, SPECIAL, ShadowValues
from conformance.generate.scripts import DrawOptions, case_of
from reference_impl import DIALECTS, OPS
from reference_impl.tape.primitive import Primitive
from tests.conformance.engines import INFO, NUMERIC

if TYPE_CHECKING:
    from conformance.compare.history import Applied

REPLICAS = 4
ATTRS = {
    **{name: {"other": 0.7} for name in ("add_scalar", "mul_scalar", "rsub_scalar")},
    **{name: {"a": 1.5} for name in ("gamma_density", "gammainc", "gammaincc")},
    "pow_scalar": {"exponent": 0.5},
    "bessel_slope": {"order": 2},
    "damped_slope": {"order": 1, "tilt": 0},
    "polygamma": {"n": 1},
}
DTYPES = {name: ("float32", "float64") if name in SPECIAL else ("float32", "float64", "complex64", "complex128") for name in AT_ONCE}
SHAPES = {0: ((), (3,), (2, 3)), 2: ((3, 3), (1, 3, 3), (2, 3, 3))}
"""Shapes of operands, by how many axes they must have at least; all of them broadcast."""


def lines_of(applied: list[Applied], seed: int = 0) -> list[Any]:
    shadows = ShadowValues(History(Outcome([], ()), applied), REPLICAS, seed=seed)
    return [shadows.of(part) for one in applied for part in one.outputs]


def are_the_same(one: Any, other: Any) -> bool:
    """Whether arrays are equal, but for what a wide rounding more or less does: NumPy computes one number otherwise than a row."""
    if one.dtype.kind not in "fc":
        return np.array_equal(one, other)
    near = np.abs(one - other) <= 2**10 * np.finfo(one.dtype).eps * np.abs(other)
    return one.dtype == other.dtype and bool((near | (one == other) | (np.isnan(one) & np.isnan(other))).all())


def applied_to(primitive: Primitive, shapes: tuple[tuple[int, ...], ...], dtype: str) -> list[Applied]:
    """Apply a primitive to what has replicas, and to one such and inputs, which have none."""
    notes, rng = Notes(), np.random.default_rng(0)
    turn = 1.0 + 0.5j if np.dtype(dtype).kind == "c" else 1.0
    inputs = [np.asarray(rng.uniform(0.5, 1.5, shape) * turn, dtype) for shape in shapes]
    with observing(notes.observe):
        made = [OPS["exp"](array) for array in inputs]
        for given in (made, [made[0], *inputs[1:]]):
            primitive(*given, **ATTRS.get(primitive.name, {}))
    return notes.applied


@pytest.mark.parametrize(("name", "dtype"), [(name, dtype) for name, dtypes in DTYPES.items() for dtype in dtypes])
def test_lines_that_are_computed_at_once_are_those_that_are_computed_alone(
    name: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    primitive = OPS[name]
    assert isinstance(primitive, Primitive)
    for shapes in itertools.product(SHAPES[AT_ONCE[name]], repeat=len(primitive.operands)):
        applied = applied_to(primitive, shapes, dtype)
        at_once = lines_of(applied)
        with monkeypatch.context() as patch:
            patch.setattr(shadow_values, "AT_ONCE", {})
            alone = lines_of(applied)
        assert all(map(are_the_same, at_once, alone)), shapes


def test_the_shadows_of_a_drawn_case_are_those_that_are_computed_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for i in range(80):
        applied = Promise(case_of(9, i, DrawOptions(("numeric",))), INFO).history().applied
        with np.errstate(all="ignore"):
            at_once = lines_of(applied)
            with monkeypatch.context() as patch:
                patch.setattr(shadow_values, "AT_ONCE", {})
                assert all(map(are_the_same, at_once, lines_of(applied))), i


def test_a_primitive_that_looks_along_an_axis_would_be_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    notes = Notes()
    with observing(notes.observe):
        OPS["flip"](OPS["exp"](np.arange(6.0).reshape(2, 3)), axis=[0])
    alone = lines_of(notes.applied)
    monkeypatch.setitem(AT_ONCE, "flip", 0)
    assert [True, False] == list(map(are_the_same, lines_of(notes.applied), alone))


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=lambda d: d.name)
def test_a_run_that_is_noted_down_is_the_run_that_nobody_watches(dialect: Any) -> None:
    draw = DrawOptions(("numeric",), static=dialect.static)
    info = replace(INFO, dialect=dialect, not_offered=dialect.not_offered)
    for i in range(80):
        case = case_of(9, i, draw)
        with np.errstate(all="ignore"):
            assert str(reference(dialect, dialect.not_offered).run(case)) == str(Promise(case, info).outcome)


def test_a_shadow_is_the_same_whatever_else_is_computed() -> None:
    for i in range(40):
        history = Promise(case_of(9, i, DrawOptions(("numeric",))), INFO).history()
        made = [part for one in history.applied for part in one.outputs]
        for part, lines in zip(made, lines_of(history.applied), strict=True):
            assert np.array_equal(lines, ShadowValues(history, REPLICAS, seed=0).of(part), equal_nan=lines.dtype.kind in "fc")


def test_only_what_leads_to_a_number_is_computed() -> None:
    history = Promise(NUMERIC, INFO).history()
    shadows = ShadowValues(history, REPLICAS, seed=0)
    shadows.of(history.outcome.observations[1].values[0].array)  # type: ignore[union-attr]
    assert ["sin", "exp"] == [history.applied[number].primitive.name for number, _ in shadows._made]
