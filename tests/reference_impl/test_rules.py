"""Every rule of every op, to third order, against an oracle that knows no rule."""

from __future__ import annotations

import copy
import functools
import itertools
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from conformance.case.steps import Op
from conformance.generate.sketch import Sketch
from conformance.generate.sources import FastSource
from conformance.ops import catalogue
from reference_impl import OPS
from reference_impl.tape.primitive import Primitive
from tests.reference_impl.rule_arguments import CONSTANT, FUNCTIONS, ROWS, operands_for
from tests.reference_impl.rule_check import HIGHEST, ask, slope_by_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Problem = tuple[Callable[..., Any], list[np.ndarray[Any, Any]]]

DRAWS = 6
ATTEMPTS = 60

NOT_DRAWN = {
    "cast": "its draws go to float32, whose rounding is larger than any stencil's; checked by a row of its own",
    "gaussian_nll_loss": "its derivative knows nothing of the bound of the variance, which draws are below; checked by a row above it",
}
"""Ops of the catalogue whose draws are not used, with the reason."""

BOTH = [name for name, row in catalogue().items() if row.numbers.taken == "both" and name not in NOT_DRAWN]
MIXED = [name for name, row in catalogue().items() if row.numbers.mixed]
WRITTEN = {op for op, *_ in (*ROWS, *FUNCTIONS)}
DRAWN = set(catalogue()) - set(NOT_DRAWN)
CONSTANTS = {op for op, *_ in CONSTANT}
CHECKED = [op for op in OPS if op in WRITTEN | DRAWN]


def _random(op: str) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(op.encode()))


def _written(op: str) -> Iterator[Problem]:
    random = _random(op)
    for name, shapes, attrs in ROWS:
        if name == op:
            yield functools.partial(OPS[op], **attrs), operands_for(op, shapes, random)
    for name, function, shapes in FUNCTIONS:
        if name == op:
            yield function, operands_for(op, shapes, random)


def _drawn(op: str, dtype: str | None = None) -> Iterator[Problem]:
    """Yield what the generator draws, without the draws that have no element to check."""
    if op not in DRAWN:
        return
    dtype = dtype or ("complex128" if catalogue()[op].family == "complex" else "float64")
    for attempt in range(ATTEMPTS):
        sketch = Sketch(FastSource(zlib.crc32(op.encode()), attempt), exact=False, dtype=dtype)
        if not sketch.add_op(op):
            continue
        step = sketch.steps[-1]
        assert isinstance(step, Op)
        arrays = {made.name: made.array() for made in sketch.inputs}
        results = [value.array for value in sketch.values if value.name in step.results]
        if all(result.size for result in results) and all(arrays[name].size for name in step.operands):
            yield functools.partial(OPS[op], **step.attrs), [arrays[name] for name in step.operands]


def _choices(count: int) -> Iterator[Sequence[int]]:
    """Each operand alone, then all of them."""
    yield from ([i] for i in range(count))
    if count > 1:
        yield range(count)


def _check(problem: Problem, random: np.random.Generator) -> bool:
    """Assert that rules and oracle agree; return whether the oracle could tell at all.

    A kink or a pole within every stencil shows in the oracle's own bound, which is how such operands are recognised: no rule is
    asked, so a wrong rule cannot hide behind a resampled draw.
    """
    function, operands = problem
    for chosen in _choices(len(operands)):
        comparison = ask(function, operands, chosen, random, move_seed=len(chosen) == len(operands)).compare()
        if not comparison.is_sharp:
            return False
        assert comparison.first_wrong_order is None, f"operands {list(chosen)} of {function}: {comparison}"
    return True


@pytest.mark.parametrize("op", CHECKED)
def test_rules_agree_with_the_oracle_to_third_order(op: str) -> None:
    random = _random(op)
    written = [_check(problem, random) for problem in _written(op)]
    assert all(written), f"{op}: a written row lies too close to a kink"
    sharp = 0
    for problem in _drawn(op):
        sharp += _check(problem, random)
        if sharp == DRAWS:
            break
    assert sharp == (DRAWS if op in DRAWN else 0)


@pytest.mark.parametrize("op", BOTH)
def test_rules_of_complex_operands_agree_with_the_oracle_to_third_order(op: str) -> None:
    random = _random(op)
    sharp = 0
    for problem in _drawn(op, "complex128"):
        if any(np.iscomplexobj(operand) for operand in problem[1]):
            sharp += _check(problem, random)
        if sharp == DRAWS:
            break
    assert sharp == DRAWS


@pytest.mark.parametrize("op", MIXED)
@pytest.mark.parametrize("real", [0, 1])
def test_rules_of_a_real_operand_beside_a_complex_one_agree_with_the_oracle(op: str, real: int) -> None:
    random = _random(op)
    operands = operands_for("mul", ((2, 3), (3,)), random)
    operands[1 - real] = operands[1 - real] + 1j * random.uniform(0.5, 1.5, operands[1 - real].shape)
    attrs = {"mask": [True, False, True]} if op == "where" else {}
    assert _check((functools.partial(OPS[op], **attrs), operands), random)


@functools.cache
def _far_from_a_kink(op: str) -> tuple[Problem, np.random.Generator]:
    """Return the first problem of an op at which the oracle can tell, and what goes on drawing where looking for it ended."""
    random = _random(op)
    for function, operands in itertools.chain(_written(op), _drawn(op)):
        if ask(function, operands, range(len(operands)), random, move_seed=False).compare().is_sharp:
            return (function, operands), random
    pytest.fail(f"{op}: no draw is far enough from a kink")


@pytest.mark.parametrize("op", CHECKED)
@pytest.mark.parametrize("order", range(1, HIGHEST + 1))
def test_taylor_remainder_vanishes_one_order_faster_than_the_last_derivative(op: str, order: int) -> None:
    (function, operands), random = _far_from_a_kink(op)
    slope = slope_by_rules(function, operands, copy.deepcopy(random), order=order)
    assert slope > order + 0.5  # half an order below the promise and half above what a wrong derivative gives


@pytest.mark.parametrize(("op", "shapes", "attrs"), CONSTANT, ids=[op for op, *_ in CONSTANT])
def test_derivative_of_a_piecewise_constant_op_is_zero(op: str, shapes: Any, attrs: dict[str, Any]) -> None:
    random = _random(op)
    function = functools.partial(OPS[op], **attrs)
    operands = operands_for(op, shapes, random)
    comparison = ask(function, operands, range(len(operands)), random, move_seed=False).compare()
    assert comparison.is_sharp
    assert comparison.rules == (0.0,) * HIGHEST
    assert comparison.first_wrong_order is None


def test_every_op_is_checked() -> None:
    assert set() == set(OPS) - set(CHECKED) - CONSTANTS, "give the op a row in rule_arguments.py"


def test_every_piecewise_constant_primitive_is_checked_as_one() -> None:
    selecting = {name for name, op in OPS.items() if isinstance(op, Primitive) and op.branch_sides}
    assert selecting == CONSTANTS | {"reached"}


def test_every_op_of_the_catalogue_is_drawn_or_excused() -> None:
    assert set(catalogue()) == DRAWN | (set(NOT_DRAWN) & WRITTEN)
