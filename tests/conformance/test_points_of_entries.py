"""The special points of an entry are met by the elements that its words are about, and by no others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.case.case import Case, Input
from conformance.case.place import END
from conformance.case.steps import InPlace, Op
from conformance.deviations.conditions import holds
from conformance.deviations.points import VALUES, Point
from conformance.ops.dtypes import DTYPES
from tests.conformance.described import X
from tests.conformance.engines import TOTAL


def meeting(op: str, data: tuple[float, ...], attrs: dict[str, object] | None = None) -> Case:
    """Make a case that calls an op of one operand."""
    return Case((Input("x", (len(data),), data),), (Op(op, ("x",), ("y",), attrs or {}), Op("sum", ("y",), ("z",), TOTAL)))


TINY, LARGEST = 1.1754944e-38, 3.4028235e38
MET = {
    "zero": (0.0, 1.0),
    "nonpositive": (-1.0, 1.0),
    "nan": ("nan", 1.0),
    "infinite": ("-inf", LARGEST),
    "plus infinity": ("inf", "-inf"),
    "not finite": ("nan", LARGEST),
    "subnormal": (TINY / 2, TINY),
    "nearly subnormal": (TINY, 8 * TINY),
    "beyond one": (-1.5, 1.0),
    "below -4, of single precision": (-4.5, -4.0),
    "of infinite exponential": (-89.0, 88.0),
    "far": (-65.0, 64.0),
    "minus zero or minus infinity": (-0.0, 0.0),
    "nearly largest": (LARGEST / 2, LARGEST / 8),
    "of infinite square": (2e19, 1e19),
    "below, with an infinite square of e^-x": (-45.0, -44.0),
    "of infinite reciprocal cube": (1e-13, 1e-12),
    "minus infinity, among two or more": ("-inf", "inf"),
}
AMONG_EIGHT = "plus infinity, among eight or more of single precision"


@pytest.mark.parametrize("value", MET)
def test_an_operand_meets_a_value_or_not(value: str) -> None:
    point = Point("relu", "x", value)
    assert [True, False] == [point.met(meeting("relu", (1.0, number)), END) for number in MET[value]]


def test_an_operand_that_an_op_changes_in_place_meets_a_value_or_not() -> None:
    steps = (Op("clone", ("x",), ("y",)), InPlace("abs", "y"))
    cases = [Case((Input("x", (1,), (number,)),), steps) for number in MET["infinite"]]
    assert [True, False] == [Point("abs", "x", "infinite").met(case, END) for case in cases]


def test_a_product_overflows_along_its_axis_and_not_across_it() -> None:
    along, across = (Case((Input("x", (2, 2), (1e30, 1e30, 1.0, 1.0)),), (Op("prod", ("x",), ("y",), {"axis": a}),)) for a in (1, 0))
    point = Point("prod", "x", "of overflowing product")
    assert [True, False] == [point.met(case, END) for case in (along, across)]


def norms_of(p: float, axis: int) -> Case:
    attrs = {"p": p, "axis": axis, "keepdims": False}
    return Case((Input("x", (2, 2), (0.0, 0.0, 1.0, 2.0)),), (Op("vector_norm", ("x",), ("y",), attrs),))


@pytest.mark.parametrize(("axis", "met"), [(1, True), (0, False)])
def test_a_norm_is_that_of_zeros_along_its_axis_and_not_across_it(axis: int, met: bool) -> None:
    assert met == Point("vector_norm", "x", "among zeros alone").met(norms_of(3.0, axis), END)
    assert met == holds("until: norm_of_zeros_of_another_order", norms_of(3.0, axis), 0)


@pytest.mark.parametrize(("axis", "met"), [(0, True), (1, False)])
def test_a_slice_of_zeros_lies_at_one_place_of_its_axis(axis: int, met: bool) -> None:
    attrs = {"p": 2.0, "axis": axis, "largest": 1.0}
    case = Case((Input("x", (2, 2), (0.0, 0.0, 1.0, 2.0)),), (Op("renorm", ("x",), ("y",), attrs),))
    assert met == Point("renorm", "x", "in a slice of zeros").met(case, END)


@pytest.mark.parametrize("p", [1.0, 2.0])
def test_the_gradient_of_a_norm_of_order_1_or_2_is_not_masked_behind_a_division(p: float) -> None:
    assert not holds("until: norm_of_zeros_of_another_order", norms_of(p, 1), 0)


OF_MATRICES = ("in a small permuted diagonal with equal singular values", "in another small matrix with equal singular values")
"""Words for what all elements of a matrix are together."""


def test_every_word_for_a_value_is_met_and_missed() -> None:
    assert {*VALUES} - {"any", "in a matrix that is halved", *OF_MATRICES, AMONG_EIGHT} == set(MET)


@pytest.mark.parametrize(("length", "met"), [(8, True), (7, False)])
def test_infinity_is_met_among_eight_numbers_and_not_among_seven(length: int, met: bool) -> None:
    assert met == Point("relu", "x", AMONG_EIGHT).met(meeting("relu", ("inf",) * length), END)


@pytest.mark.parametrize("word", VALUES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_word_for_a_value_has_an_answer_for_every_number_that_an_op_may_be_given(word: str, dtype: str) -> None:
    x = np.eye(2, dtype=dtype)
    with np.errstate(all="ignore"):
        assert x.shape == np.shape(VALUES[word](x))


ONE_ROW = {"size": [1, 1, 1, 2], "align_corners": True}
DIVISION = Point("div", "x", "of a quotient beyond the range by y")


@pytest.mark.parametrize(
    ("point", "step", "operands", "expected"),
    [
        (
            Point("normalize", "x", "of no length"),
            {"axis": 1, "eps": 1e-3},
            ([[0.0, 0.0], [0.0, 1.0]],),
            [[True, True], [False, False]],
        ),
        (Point("celu", "x", "far in the unit alpha"), {"alpha": 0.25}, ([15.0, 17.0, -17.0],), [False, True, True]),
        (Point("affine_grid", "theta", "for an axis of one place"), ONE_ROW, (np.ones((1, 2, 3)),), [[[False, True, False]] * 2]),
        (Point("relu", "x", "any"), {}, ([0.0, 1.0],), [True, True]),
        (
            Point("matrix_exp", "x", "in a matrix that is halved"),
            {},
            ([[[8.0, 0.0], [0.0, 0.0]], [[7.0, 0.0], [0.0, 0.0]]],),
            [[[True] * 2] * 2, [[False] * 2] * 2],
        ),
        (
            Point("det", "x", OF_MATRICES[0]),
            {},
            ([[[0.0, 2e-3], [-2e-3, 0.0]], [[2e-3, 0.0], [0.0, 1e-3]], [[2e-3, 2e-3], [-2e-3, 2e-3]], [[2.0, 0.0], [0.0, 2.0]]],),
            [[[True] * 2] * 2, *[[[False] * 2] * 2] * 3],
        ),
        (
            Point("det", "x", OF_MATRICES[1]),
            {},
            ([[[2e-3, 0.0], [0.0, 2e-3]], [[1e-3, 1e-3], [-1e-3, 1e-3]], [[1e-3, 2e-3], [1e-3, 1e-3]]],),
            [[[False] * 2] * 2, [[True] * 2] * 2, [[False] * 2] * 2],
        ),
        (DIVISION, {}, ([1.0, 1e38], [1e-10]), [False, True]),
        (DIVISION, {}, ([1.0, 1.0], [1e-30, 1.0]), [True, False]),
    ],
    ids=lambda found: found.op if isinstance(found, Point) else "",
)
def test_a_point_is_at_the_elements_that_its_words_are_about(point: Point, step: Any, operands: Any, expected: Any) -> None:
    given = [np.asarray(operand, np.float32) for operand in operands]
    assert expected == np.broadcast_to(point.here(given, step), given[0].shape).tolist()


@pytest.mark.parametrize(
    ("point", "met", "missed"),
    [
        (Point("hardshrink", "x", "at bound"), 0.5, -0.5),
        (Point("hardshrink", "x", "at -bound"), -0.5, 0.5),
        (Point("softplus", "x", "at 20", times="beta"), 10.0, 20.0),
    ],
)
def test_a_value_may_be_that_of_an_attribute_or_a_number(point: Point, met: float, missed: float) -> None:
    attrs: dict[str, object] = {"bound": 0.5} if point.op == "hardshrink" else {"beta": 2.0}
    assert [True, False] == [point.met(meeting(point.op, (number,), attrs), END) for number in (met, missed)]


def test_a_point_is_met_from_the_call_of_its_op_on() -> None:
    case = Case((X,), (Op("square", ("x",), ("y",)), Op("relu", ("x",), ("z",)), Op("square", ("z",), ("s",))))
    assert [False, True, True, True] == [Point("relu", "x", "at 2").met(case, number) for number in (0, 1, 2, END)]


@pytest.mark.parametrize("written", ["x", "v"], ids=["itself", "through a view"])
def test_a_point_is_met_by_what_was_written_before_and_not_by_what_is_written_later(written: str) -> None:
    view = Op("getitem_slice", ("x",), ("v",), {"key": [[0, 2, 1]]})
    write = InPlace("mul_scalar", written, (), {"other": 2.0}, no_grad=True)
    steps = (view, Op("relu", ("x",), ("a",)), write, Op("relu", ("x",), ("b",)))
    case = Case((Input("x", (2,), (1.0, 3.0), differentiable=False),), steps, "exact")
    assert [True, False] == [Point("relu", "x", value).met(case, 1) for value in ("at 1", "at 2")]
    assert [True, True] == [Point("relu", "x", value).met(case, 3) for value in ("at 1", "at 2")]


def test_a_point_of_a_second_operand_is_met_there_alone() -> None:
    case = Case((X, Input("e", (2,), (0.0, 1.0))), (Op("pow", ("x", "e"), ("y",)),))
    assert [True, False] == [Point("pow", operand, "zero").met(case, 0) for operand in ("y", "x")]
