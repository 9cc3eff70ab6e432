"""What the rules answer exactly at a kink or a tie, where no oracle can: the conventions of the dialects."""

from __future__ import annotations

from typing import Any

import pytest

from reference_impl import OPS, PADDLE, TORCH, Dialect, grad, tensor
from tests.reference_impl.vocabulary import both, elements, leaf

ALONG = {"axis": 0, "keepdims": False}
X = [2.0, 1.0, 2.0]

AGREED: list[tuple[str, list[list[float]], dict[str, Any], list[list[float]]]] = [
    ("relu", [[-1.0, 0.0, 1.0]], {}, [[0.0, 0.0, 1.0]]),
    ("abs", [[-1.0, 0.0, 1.0]], {}, [[-1.0, 0.0, 1.0]]),
    ("clamp", [[0.0, 1.0, 3.0]], {"low": 1.0, "high": 3.0}, [[0.0, 1.0, 1.0]]),
    ("maximum", [[1.0, 2.0, 3.0], [2.0, 2.0, 2.0]], {}, [[0.0, 0.5, 1.0], [1.0, 0.5, 0.0]]),
    ("minimum", [[1.0, 2.0, 3.0], [2.0, 2.0, 2.0]], {}, [[1.0, 0.5, 0.0], [0.0, 0.5, 1.0]]),
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
