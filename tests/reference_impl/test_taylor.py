"""Every rule of every op by the Taylor test: what a derivative leaves over vanishes one order faster than it."""

from __future__ import annotations

import functools
import itertools

import pytest

from tests.reference_impl.rule_check import HIGHEST, ask, slopes_by_rules
from tests.reference_impl.rule_problems import CHECKED, drawn_problems, random_of, written_problems


@functools.cache
def slopes_far_from_a_kink(op: str) -> tuple[float, ...]:
    """Return the slopes of each order at the first problem of an op at which the oracle can tell."""
    random = random_of(op)
    for function, operands in itertools.chain(written_problems(op), drawn_problems(op)):
        if ask(function, operands, range(len(operands)), random, move_seed=False, one_way=True).is_sharp:  # one line shows a kink
            return slopes_by_rules(function, operands, random)
    pytest.fail(f"{op}: no draw is far enough from a kink")


@pytest.mark.parametrize("op", CHECKED)
@pytest.mark.parametrize("order", range(1, HIGHEST + 1))
def test_taylor_remainder_vanishes_one_order_faster_than_the_last_derivative(op: str, order: int) -> None:
    slope = slopes_far_from_a_kink(op)[order - 1]
    assert slope > order + 0.5  # half an order below the promise and half above what a wrong derivative gives
