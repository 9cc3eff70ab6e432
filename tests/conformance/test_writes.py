"""Another name of the memory that a write changed: whether it is told of may be a matter of a rounding, and of nothing more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from conformance.case.case import Case, Input
from conformance.case.outcome import Event, Value
from conformance.case.steps import Detach, InPlace
from tests.conformance.engines import answer, mismatch_of

if TYPE_CHECKING:
    from conformance.case.case import Lane

NEARLY_ONE = float(np.nextafter(np.float32(1.0), np.float32(0.0)))
WRITE = 2
ELEMENTS = np.array([1.5, 2.5], "float32")


def divided(*by: float, lane: Lane = "numeric") -> Case:
    """Divide what shares memory with an input, which is told of at each division if its elements change."""
    divisors = [Input(f"y{i}", (), (divisor,)) for i, divisor in enumerate(by)]
    writes = [InPlace("div", "d", (entry.name,)) for entry in divisors]
    return Case((Input("x", (2,), tuple(ELEMENTS.tolist())), *divisors), (Detach("x", ("d",)), Detach("x", ("e",)), *writes), lane)


def tells(*elements: Any) -> Any:
    """Have the first division tell of these elements of the input, of its other name, or of nothing."""

    def change(outcome: Any) -> None:
        events = [Event(name, Value(array, requires_grad=False)) for array in elements for name in ("x", "e")]
        outcome.observations[WRITE].events = tuple(events)

    return change


def test_a_division_by_one_changes_nothing_and_is_told_of_nowhere() -> None:
    assert not answer(divided(1.0)).observations[WRITE].events  # type: ignore[union-attr]


def test_a_change_by_a_rounding_may_be_told_of_nowhere() -> None:
    assert mismatch_of(divided(NEARLY_ONE), tells()) is None


def test_a_change_by_a_rounding_may_be_told_of_where_none_is_promised() -> None:
    assert mismatch_of(divided(1.0), tells(np.nextafter(ELEMENTS, np.float32(9.0)))) is None


def test_after_several_writes_the_last_one_counts() -> None:
    def change(outcome: Any) -> None:
        outcome.observations[WRITE + 1].events = ()

    assert mismatch_of(divided(0.5, NEARLY_ONE), change) is None


@pytest.mark.parametrize(
    ("case", "change"),
    [
        (divided(0.5), tells()),
        (divided(1.0), tells(2.0 * ELEMENTS)),
        (divided(NEARLY_ONE, lane="exact"), tells()),
        (divided(1.0), tells(ELEMENTS.reshape(2, 1))),
    ],
    ids=["not told of", "told of", "in the exact lane", "of another shape"],
)
def test_any_other_change_has_to_be_told_of_as_promised(case: Case, change: Any) -> None:
    assert mismatch_of(case, change) is not None
