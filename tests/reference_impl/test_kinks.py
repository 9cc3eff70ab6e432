"""What the rules answer exactly at a kink or a tie, where no oracle can: the conventions of the dialects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from reference_impl import OPS, PADDLE, TORCH, Dialect, grad, tensor
from reference_impl.tape.primitive import Observation, Primitive
from tests.reference_impl.vocabulary import both, elements, leaf

ALONG = {"axis": 0, "keepdims": False}
X = [2.0, 1.0, 2.0]

AGREED: list[tuple[str, list[list[float]], dict[str, Any], list[list[float]]]] = [
    ("relu", [[-1.0, 0.0, 1.0]], {}, [[0.0, 0.0, 1.0]]),
    ("abs", [[-1.0, 0.0, 1.0]], {}, [[-1.0, 0.0, 1.0]]),
    ("clamp", [[0.0, 1.0, 3.0]], {"low": 1.0, "high": 3.0}, [[0.0, 1.0, 1.0]]),
    ("clamp_low_tensor", [[1.0, 2.0, 3.0], [2.0, 2.0, 2.0]], {}, [[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]]),
    ("clamp_high_tensor", [[1.0, 2.0, 3.0], [2.0, 2.0, 2.0]], {}, [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    ("maximum", [[1.0, 2.0, 3.0], [2.0, 2.0, 2.0]], {}, [[0.0, 0.5, 1.0], [1.0, 0.5, 0.0]]),
    ("minimum", [[1.0, 2.0, 3.0], [2.0, 2.0, 2.0]], {}, [[1.0, 0.5, 0.0], [0.0, 0.5, 1.0]]),
    ("relu6", [[-1.0, 0.0, 3.0, 6.0, 7.0]], {}, [[0.0, 0.0, 1.0, 0.0, 0.0]]),
    ("hardtanh", [[-1.0, 0.0, 1.0]], {"low": -1.0, "high": 1.0}, [[0.0, 1.0, 0.0]]),
    ("hardshrink", [[-2.0, -0.5, 0.0, 0.5, 2.0]], {"bound": 0.5}, [[1.0, 0.0, 0.0, 0.0, 1.0]]),
    ("fmax", [[1.0, 2.0, 3.0], [2.0, 2.0, 2.0]], {}, [[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]]),
    ("fmin", [[1.0, 2.0, 3.0], [2.0, 2.0, 2.0]], {}, [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    ("amin", [[-x for x in X]], {"axis": [0], "keepdims": False}, [[0.5, 0.0, 0.5]]),
    ("floor", [[-1.0, 0.0, 0.5]], {}, [[0.0, 0.0, 0.0]]),
    ("ceil", [[-1.0, 0.0, 0.5]], {}, [[0.0, 0.0, 0.0]]),
    ("round", [[-1.0, 0.0, 0.5]], {}, [[0.0, 0.0, 0.0]]),
    ("amax", [X], {"axis": [0], "keepdims": False}, [[0.5, 0.0, 0.5]]),
    ("pow_scalar", [[0.0, 2.0]], {"exponent": 0.0}, [[0.0, 0.0]]),
    ("pow_scalar", [[0.0, 2.0]], {"exponent": 1.0}, [[1.0, 1.0]]),
]

DIFFERENT: list[tuple[str, Dialect, list[float]]] = [
    ("max", TORCH, [1.0, 0.0, 0.0]),
    ("max", PADDLE, [0.5, 0.0, 0.5]),
    ("min", TORCH, [1.0, 0.0, 0.0]),
    ("min", PADDLE, [0.5, 0.0, 0.5]),
]


def _gradients(op: str, operands: list[list[float]], attrs: dict[str, Any], dialect: Dialect) -> Any:
    leaves = [leaf(operand) for operand in operands]
    out = OPS[op](*leaves, **attrs)
    return [elements(g) for g in grad([out], leaves, [tensor(out.array * 0.0 + 1.0)], dialect=dialect)]


@both
@pytest.mark.parametrize(("op", "operands", "attrs", "expected"), AGREED, ids=[op for op, *_ in AGREED])
def test_both_dialects_agree_at_a_kink(
    op: str, operands: list[list[float]], attrs: dict[str, Any], expected: list[list[float]], dialect: Dialect
) -> None:
    assert expected == _gradients(op, operands, attrs, dialect)


@pytest.mark.parametrize(("op", "dialect", "expected"), DIFFERENT, ids=[f"{op}-{d.name}" for op, d, _ in DIFFERENT])
def test_tied_extremum_along_an_axis_follows_the_dialect(op: str, dialect: Dialect, expected: list[float]) -> None:
    sign = 1.0 if op == "max" else -1.0
    assert [expected] == _gradients(op, [[sign * x for x in X]], ALONG, dialect)


@pytest.mark.parametrize(("dialect", "at_zero"), [(TORCH, 0.25), (PADDLE, 1.0)], ids=["torch", "paddle"])
def test_derivative_of_a_leaky_relu_at_zero_follows_the_dialect(dialect: Dialect, at_zero: float) -> None:
    assert [[0.25, at_zero, 1.0]] == _gradients("leaky_relu", [[-1.0, 0.0, 1.0]], {"slope": 0.25}, dialect)


SIDED: list[tuple[str, list[list[float]], dict[str, Any]]] = [
    ("relu", [[0.0]], {}),
    ("abs", [[0.0]], {}),
    ("leaky_relu", [[0.0]], {"slope": 0.25}),
    ("clamp", [[1.0]], {"low": 1.0, "high": 3.0}),
    ("clamp", [[3.0]], {"low": 1.0, "high": 3.0}),
    ("clamp_low_tensor", [[2.0], [2.0]], {}),
    ("clamp_high_tensor", [[2.0], [2.0]], {}),
    ("hardtanh", [[-1.0]], {"low": -1.0, "high": 1.0}),
    ("relu6", [[6.0]], {}),
    ("maximum", [[2.0], [2.0]], {}),
    ("minimum", [[2.0], [2.0]], {}),
    ("fmax", [[2.0], [2.0]], {}),
    ("fmin", [[2.0], [2.0]], {}),
    ("max", [[2.0, 2.0]], ALONG),
    ("min", [[2.0, 2.0]], ALONG),
    ("amax", [[2.0, 2.0]], ALONG),
    ("amin", [[2.0, 2.0]], ALONG),
]


def _on_a_side(op: str, operands: list[list[float]], attrs: dict[str, Any], side: int, dialect: Dialect) -> float:
    """Return the derivative in the first element, with one of the sides that each question at the kink lists."""

    def choose(primitive: Primitive, arrays: list[Any], given: dict[str, Any], out: Any) -> Any:
        assert primitive.branch_sides is not None
        return list(primitive.branch_sides(out, *arrays, **given))[side]

    Observation.chooser = choose
    try:
        return float(_gradients(op, operands, attrs, dialect)[0][0])
    finally:
        Observation.chooser = None


@both
@pytest.mark.parametrize(("op", "operands", "attrs"), SIDED, ids=[f"{op}-{operands[0][0]}" for op, operands, _ in SIDED])
def test_the_sides_that_a_kink_lists_are_the_one_sided_derivatives(
    op: str, operands: list[list[float]], attrs: dict[str, Any], dialect: Dialect
) -> None:
    listed = {_on_a_side(op, operands, attrs, side, dialect) for side in (0, 1)}
    step = 0.25
    at = OPS[op](*(np.array(o) for o in operands), **attrs).sum()
    first = operands[0]
    measured = {
        float(OPS[op](np.array([first[0] + d, *first[1:]]), *(np.array(o) for o in operands[1:]), **attrs).sum() - at) / d
        for d in (step, -step)
    }
    assert measured == listed


@both
@pytest.mark.parametrize(("op", "operands", "attrs"), SIDED, ids=[f"{op}-{operands[0][0]}" for op, operands, _ in SIDED])
def test_the_convention_at_a_kink_is_a_subgradient(
    op: str, operands: list[list[float]], attrs: dict[str, Any], dialect: Dialect
) -> None:
    sides = [_on_a_side(op, operands, attrs, side, dialect) for side in (0, 1)]
    assert min(sides) <= _gradients(op, operands, attrs, dialect)[0][0] <= max(sides)
