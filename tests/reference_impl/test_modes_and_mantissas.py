"""Modes and mantissas against their definitions: the counts of the standard library, and the powers of two of its `math`."""

from __future__ import annotations

import collections
import math

import numpy as np
import pytest

from reference_impl import OPS, Tensor, grad

ENDS = np.finfo(np.float64)


def test_a_mode_is_the_element_that_comes_most_often() -> None:
    x = np.random.default_rng(5).integers(0, 4, size=(50, 7)).astype(np.float64)
    counted = [collections.Counter(row).most_common() for row in x.tolist()]
    expected = [min(value for value, count in found if count == found[0][1]) for found in counted]
    assert np.array_equal(expected, OPS["mode"](x, axis=1, keepdims=False))
    assert np.array_equal(expected, OPS["mode"](x.T, axis=0, keepdims=True)[0])


@pytest.mark.parametrize("index", [[2, 0, 2], [1, 2, 2, 1, 2]])
def test_the_gradient_of_a_mode_of_selected_elements_goes_to_the_one_that_was_selected_most_often(index: list[int]) -> None:
    x = Tensor(np.array([[3.0, 1.0, 2.0], [0.0, 5.0, 7.0]]), requires_grad=True)
    made = OPS["mode_of_selected"](x, index=index, axis=1, keepdims=False)
    (found,) = grad([made], [x], [Tensor(np.array([10.0, 20.0]))])
    assert [2.0, 7.0] == made.array.tolist()
    assert [[0.0, 0.0, 10.0], [0.0, 0.0, 20.0]] == found.array.tolist()


@pytest.mark.parametrize("x", [0.0, 1.0, -2.0, 0.75, 3e200, -3e-200, ENDS.max, ENDS.tiny, ENDS.smallest_subnormal, math.inf])
def test_a_mantissa_is_that_of_the_standard_library(x: float) -> None:
    assert math.frexp(x)[0] == OPS["frexp"](np.array(x))


@pytest.mark.parametrize("x", [1.0, -2.0, 0.75, 3e200, -3e-200, ENDS.max])
def test_the_slope_of_a_mantissa_is_the_power_of_two_that_it_is_multiplied_with(x: float) -> None:
    (found,) = grad([OPS["frexp"](leaf := Tensor(np.array(x), requires_grad=True))], [leaf], [Tensor(np.ones(()))])
    assert math.ldexp(1.0, -math.frexp(x)[1]) == found.array
