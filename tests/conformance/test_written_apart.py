"""The signature of gradients that are written four bytes apart, where they round: which halves of numbers it is borne by."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.case.case import Case, Input
from conformance.case.steps import Grad, Op
from conformance.compare.promise import Promise
from conformance.deviations.written_apart import APART
from conformance.deviations.wrong_values import bears
from tests.conformance.engines import INFO, TOTAL
from tests.conformance.signed import entry, found

STEPS = (
    Op("setitem_mask", ("x", "v"), ("w",), {"mask": [True, True]}),
    Op("tanh", ("w",), ("t",)),
    Op("sum", ("t",), ("z",), TOTAL),
    Grad(("z",), ("v",), ("g",)),
)


@pytest.mark.parametrize(
    ("off", "borne"),
    [
        ((0, 0, 0, 0), True),
        ((2, -2, 0, 12345), True),  # two roundings, and what nobody wrote
        ((1 << 20, 0, 0, 0), False),
        ((0, 1 << 20, 0, 0), False),
        ((2, -2, 1, 0), False),
    ],
    ids=["as it is", "rounded", "another first half", "another second half", "another upper half"],
)
def test_halves_of_double_numbers_may_be_those_that_rounding_can_make(off: tuple[int, ...], borne: bool) -> None:
    inputs = Input("x", (2,), (1.0, 2.0), "float64", differentiable=False), Input("v", (2,), (0.3, 0.7), "float64")
    right = 1.0 - np.tanh(np.array([0.3, 0.7])) ** 2
    (low, _), last = right.view(np.uint32).reshape(2, 2)
    words = np.array([low, *last, 0]).astype(np.int64) + off
    case = Case(inputs, STEPS)
    assert borne == bears(entry(APART), Promise(case, INFO), found(case, words.astype(np.uint32).view(np.float64)))


@pytest.mark.parametrize(("part", "borne"), [(0, True), (1, False)], ids=["the real parts", "another first one"])
def test_words_of_complex_numbers_are_their_real_parts_and_the_last_one_that_is_not(part: int, borne: bool) -> None:
    inputs = (
        Input("x", (2,), ((1.0, 0.0), (2.0, 0.0)), "complex64", differentiable=False),
        Input("v", (2,), ((0.3, 0.1), (0.7, -0.2)), "complex64"),
        Input("s", (2,), ((1.0, 0.0), (1.0, 0.0)), "complex64", differentiable=False),
    )
    right = np.conj(1.0 - np.tanh(np.array([0.3 + 0.1j, 0.7 - 0.2j])) ** 2)
    words = np.array([right[0].real + part, right[1].real, right[1].imag, 5.0], np.float32)
    case = Case(inputs, (*STEPS[:2], Grad(("t",), ("v",), ("g",), ("s",))))
    assert borne == bears(entry(APART), Promise(case, INFO), found(case, words.view(np.complex64)))
