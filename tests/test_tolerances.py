"""No tolerance is chosen outside the module that derives them."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
DERIVING = {"conformance/compare/rounding.py", "conformance/ops/dtypes.py"}
SOURCES = sorted(p for p in (ROOT / "conformance").rglob("*.py") if p.relative_to(ROOT).as_posix() not in DERIVING)
COMPARISONS = {"allclose", "isclose", "assert_allclose", "assert_almost_equal", "assert_array_almost_equal", "approx"}
FORMATS = {"finfo", "spacing", "nextafter", "eps", "epsilon", "resolution"}
TOLERANCE = re.compile(r"(^|_)(rtol|atol|tol|tolerance|tolerances|eps|epsilon|ulps?|roundings?)(_|$)", re.IGNORECASE)
SMALL = 0.01


def tolerances_in(source: str) -> list[str]:
    """Say where a source chooses a tolerance: by a comparison that takes one, under its name, or by comparing with a small number."""
    return [f"line {node.lineno}: {reason}" for node, reason in _found(ast.parse(source))]


def _found(tree: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt | ast.keyword, str]]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in COMPARISONS:
                yield node, f"{name} compares with a tolerance"
            case ast.Attribute(attr=name) if name in FORMATS:
                yield node, f"{name} is the format of a dtype"
            case ast.keyword(arg=str(name), value=value) if TOLERANCE.search(name) and _numbers(value):
                yield node, f"{name} is given a number"
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                if TOLERANCE.search(name) and _numbers(value):
                    yield node, f"{name} is given a number"
            case ast.arguments():
                named = zip([*node.posonlyargs, *node.args][::-1], node.defaults[::-1], strict=False)
                for parameter, default in [*named, *zip(node.kwonlyargs, node.kw_defaults, strict=True)]:
                    if default is not None and TOLERANCE.search(parameter.arg) and _numbers(default):
                        yield default, f"{parameter.arg} is given a number"
            case ast.Compare():
                small = [n for part in (node.left, *node.comparators) for n in _numbers(part) if 0 < abs(n) <= SMALL]
                if small:
                    yield node, f"{small[0]:g} is compared with"


def _numbers(value: ast.expr) -> list[float]:
    """The numbers that are literals in an expression."""
    return [float(n.value) for n in ast.walk(value) if isinstance(n, ast.Constant) and type(n.value) in (int, float)]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_tolerance_is_chosen_outside_the_module_that_derives_them(path: Path) -> None:
    assert not tolerances_in(path.read_text())


def test_the_modules_that_derive_them_would_be_caught() -> None:
    assert all(tolerances_in((ROOT / path).read_text()) for path in DERIVING)


@pytest.mark.parametrize(
    "planted",
    [
        "np.allclose(a, b)",
        "same = numpy.isclose(a, b).all()",
        "np.testing.assert_allclose(actual, expected)",
        "close(a, b, rtol=1.3e-6)",
        "close(a, b, atol=1)",
        "ATOL = 1e-5",
        "tolerance: float = 2 * 1e-5",
        "MOST_ROUNDINGS = 64",
        "def close(a, b, *, eps=1e-6): ...",
        "def close(a, b, tol=0.001): ...",
        "def f(a, b): return abs(a - b) < 1e-5",
        "def f(a, b): return np.abs(a - b) <= 1e-5 * np.abs(b)",
        "bound = 64 * np.finfo(np.float32).eps",
    ],
)
def test_a_planted_tolerance_is_caught(planted: str) -> None:
    assert tolerances_in(planted)


@pytest.mark.parametrize(
    "innocent", ["x = 1e-9", "if n < 2: ...", "radius <= error", "close(a, b, tolerance=derived)", "chance(0.001)"]
)
def test_what_is_no_tolerance_is_not(innocent: str) -> None:
    assert not tolerances_in(innocent)
