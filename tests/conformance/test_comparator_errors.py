"""The errors of comparators that were found in the field: ours makes none of them, and would be caught if it did.

Each error is one function here that changes our comparison into the faulty one, an outcome that is wrong in the way that the fault
hides, and two claims: our comparison sees the difference, the faulty one does not.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
import pytest

from conformance.case.case import Case, Input
from conformance.case.outcome import Computed, Raised, Value
from conformance.case.steps import Grad, Op
from conformance.compare.compare import Comparer
from conformance.compare.promise import Promise
from conformance.compare.rounding import CHEAP_ROUNDINGS, Bounds
from reference_impl import Category
from tests.conformance.engines import EXACT, INFO, TOTAL, answer

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from conformance.case.outcome import Outcome

    Fault = Callable[[], AbstractContextManager[Any]]

_value = Comparer._value
_observation = Comparer.observation
_ratio = Bounds.ratio

ONES = (1.0,) * 64
MANY = Case(
    (Input("x", (64,), ONES),),
    (Op("sin", ("x",), ("y",)), Op("sum", ("y",), ("z",), TOTAL), Grad(("z",), ("x",), ("g",))),
)
SMALL = Case(
    (Input("x", (2,), (1e-9, 2e-9)),),
    (Op("square", ("x",), ("y",)), Op("sum", ("y",), ("z",), TOTAL), Grad(("z",), ("x",), ("g",))),
)
CALL = 2


def differs(case: Case, change: Callable[[Any], None]) -> bool:
    """Whether a changed answer is told from the right one."""
    actual = copy.deepcopy(answer(case))
    change(actual)
    return Comparer(Promise(case, INFO)).run(actual).mismatch is not None


def gradient(step: int, slot: int, make: Callable[[Any], Any]) -> Callable[[Outcome], None]:
    """Change one gradient; ``make`` is given the value."""

    def change(outcome: Any) -> None:
        values = list(outcome.observations[step].values)
        values[slot] = make(values[slot])
        outcome.observations[step].values = tuple(values)

    return change


def elements(make: Callable[[Any], Any]) -> Callable[[Any], Value]:
    """Change the elements of a value; dtype and flag stay."""
    return lambda value: Value(make(value.array).astype(value.array.dtype), value.requires_grad)


def one(place: int, by: float) -> Callable[[Any], Value]:
    """Add to one element."""

    def make(array: Any) -> Any:
        changed = array.copy()
        changed[place] += by
        return changed

    return elements(make)


def comparing(agree: Callable[[Any, Any], bool]) -> Fault:
    """Compare elements in this way alone."""
    return lambda: mock.patch.object(Comparer, "_elements_agree", lambda _, _n, _s, e, a, *_rest: agree(e, a))


def swapped(expected: Any, actual: Any) -> bool:
    """Take the relative tolerance for the absolute one, and the other way round."""
    rtol, atol = CHEAP_ROUNDINGS * float(np.finfo(expected.dtype).eps), float(np.finfo(expected.dtype).tiny)
    return bool(np.allclose(actual, expected, rtol=atol, atol=rtol))


def accepted_and_rest_skipped(comparer: Comparer, number: int, expected: Any, actual: Any) -> Any:
    """Return from the whole step where one side is absent."""
    if isinstance(expected, Computed) and isinstance(actual, Computed):
        pairs = zip(expected.values, actual.values, strict=True)
        if any((e is None) != (a is None) for e, a in pairs):
            return iter(())
    return _observation(comparer, number, expected, actual)


def one_sided(comparer: Comparer, number: int, slot: int, expected: Any, actual: Any, **options: Any) -> Any:
    """Look at what is expected alone to see whether a gradient is absent."""
    return None if expected is None else _value(comparer, number, slot, expected, actual, **options)


def filled(comparer: Comparer, number: int, slot: int, expected: Any, actual: Any, **options: Any) -> Any:
    """Fill in zeros for what is missing."""
    present = expected or actual
    if present is not None:
        expected, actual = (v or Value(np.zeros_like(present.array), present.requires_grad) for v in (expected, actual))
    return _value(comparer, number, slot, expected, actual, **options)


def grown(bounds: Bounds, actual: Any, *place: Any) -> float:
    """Multiply the tolerance by the number of elements."""
    return _ratio(bounds, actual, *place) / actual.size


def forward_only(comparer: Comparer, number: int, expected: Any, actual: Any) -> Any:
    """Leave out a call that one engine refuses."""
    if isinstance(expected, Raised) != isinstance(actual, Raised):
        return iter(())
    return _observation(comparer, number, expected, actual)


def either(expected: Any, actual: Any) -> bool:
    """Accept what is near relatively *or* absolutely, where both were said to hold."""
    return bool(((np.abs(actual - expected) <= 1e-3) | (np.abs(actual - expected) <= 1e-3 * np.abs(expected))).all())


def projected(expected: Any, actual: Any) -> bool:
    """Compare along one fixed direction, which the difference happens to be orthogonal to."""
    direction = np.resize([1.0, -1.0], expected.shape)
    return bool(np.isclose((expected * direction).sum(), (actual * direction).sum()))


def patched(name: str, fault: Any, owner: Any = Comparer) -> Fault:
    return lambda: mock.patch.object(owner, name, fault)


def refused(outcome: Any) -> None:
    outcome.observations[CALL] = Raised(Category.UNMAPPED, "no")


def both_up(array: Any) -> Any:
    return array + np.resize([0.25, 0.25], array.shape)


ERRORS: dict[str, tuple[Fault, Case, Callable[[Any], None]]] = {
    "swapped rtol and atol": (comparing(swapped), SMALL, gradient(CALL, 0, elements(lambda a: a * 3.0))),
    "a None mismatch is accepted and the rest skipped": (
        patched("observation", accepted_and_rest_skipped),
        EXACT,
        gradient(CALL, 1, lambda _: Value(np.zeros(3, "float32"), requires_grad=False)),
    ),
    "None is looked for on one side": (
        patched("_value", one_sided),
        EXACT,
        gradient(CALL, 1, lambda _: Value(np.ones(3, "float32"), requires_grad=False)),
    ),
    "missing gradients are filled with zeros": (
        patched("_value", filled),
        EXACT,
        gradient(CALL, 1, lambda _: Value(np.zeros(3, "float32"), requires_grad=False)),
    ),
    "only means are compared": (
        comparing(lambda e, a: bool(np.isclose(e.mean(), a.mean()))),
        EXACT,
        gradient(CALL, 0, elements(lambda a: a[::-1])),
    ),
    "only sums are compared": (
        comparing(lambda e, a: bool(np.isclose(e.sum(), a.sum()))),
        MANY,
        gradient(CALL, 0, elements(lambda a: a + np.resize([0.5, -0.5], a.shape))),
    ),
    "the tolerance grows with the tensor": (
        patched("ratio", grown, Bounds),
        MANY,
        gradient(CALL, 0, one(17, 1e-4)),
    ),
    "an exception demotes the case to its forward": (patched("observation", forward_only), EXACT, refused),
    "or for and": (comparing(either), SMALL, gradient(CALL, 0, elements(lambda a: a * 2.0))),
    "a projection without a signal": (comparing(projected), MANY, gradient(CALL, 0, elements(both_up))),
}


@pytest.mark.parametrize(("fault", "case", "change"), ERRORS.values(), ids=ERRORS)
def test_the_comparison_does_not_make_the_error(fault: Fault, case: Case, change: Callable[[Any], None]) -> None:
    del fault
    assert differs(case, change)


@pytest.mark.parametrize(("fault", "case", "change"), ERRORS.values(), ids=ERRORS)
def test_a_comparison_that_makes_the_error_would_be_caught(fault: Fault, case: Case, change: Callable[[Any], None]) -> None:
    with fault():
        assert not differs(case, change)


def test_a_mismatch_of_none_does_not_hide_a_wrong_number_beside_it() -> None:
    actual = copy.deepcopy(answer(EXACT))
    gradient(CALL, 1, lambda _: Value(np.zeros(3, "float32"), requires_grad=False))(actual)
    gradient(CALL, 0, one(0, 1.0))(actual)
    found = [(m.kind, m.name) for m in Comparer(Promise(EXACT, INFO)).differences(actual) if m.step == CALL]
    assert [("value", "g"), ("absence", "h")] == found
