"""What Paddle did in earlier releases and mended: the rules that predict it are held against numbers that were measured there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from conformance.backends import BackendInfo
from conformance.case.case import Case, Input
from conformance.case.queries import values_of
from conformance.case.steps import Grad, Op
from conformance.compare.promise import Promise
from conformance.deviations.counterfactuals.rules import RULES
from conformance.deviations.counterfactuals.scripts import COUNTERFACTUALS
from reference_impl import PADDLE
from tests.conformance.engines import TOTAL

if TYPE_CHECKING:
    from conformance.case.outcome import Outcome

PADDLE_INFO = BackendInfo("paddle", "3.0.0", PADDLE, PADDLE.not_offered)
STEPPED = "as if copies of views were indexed by the steps of the views"


def _by(words: str, case: Case) -> Outcome:
    (change,) = RULES[words](())
    with change:
        return Promise(case, PADDLE_INFO).outcome


def _made(words: str, case: Case) -> list[Any]:
    """Return what the last step makes by a rule."""
    values = dict(values_of(case.steps, _by(words, case).observations))
    return [values[name].array.tolist() for name in case.steps[-1].results]


def _differentiated(op: Op, *inputs: Input) -> Case:
    operands = tuple(entry.name for entry in inputs)
    return Case(inputs, (op, Op("sum", op.results, ("l",), TOTAL), Grad(("l",), operands, tuple(f"g{x}" for x in operands))), "numeric")


Y = Input("y", (2, 3), (1.0, 2.0, 4.0, 3.0, 5.0, 9.0))
PLACES = Input("x", (2, 3), (0.0, 1.0, 3.0, 0.0, 2.0, 7.0))


@pytest.mark.parametrize(
    ("axis", "of_values"),
    [(1, [[0.5, 1.5, 1.0], [0.5, 1.5, 1.0]]), (0, [[0.0, 0.5, 2.0], [0.0, 0.5, 2.0]])],
    ids=["along rows", "down columns, where no axis lies in front"],
)
def test_what_is_gathered_along_an_axis_has_the_gradient_of_the_first_row_in_all_rows(axis: int, of_values: list[list[float]]) -> None:
    case = _differentiated(Op("trapezoid_x", ("y", "x"), ("a",), {"axis": axis}), Y, PLACES)
    assert of_values == _made("as if gradients of first rows were those of all", case)[0]


def test_the_gradient_in_the_places_is_right_all_the_same() -> None:
    case = _differentiated(Op("trapezoid_x", ("y", "x"), ("a",), {"axis": 1}), Y, PLACES)
    assert [[-1.5, -1.5, 3.0], [-4.0, -3.0, 7.0]] == _made("as if gradients of first rows were those of all", case)[1]


TIE, OTHER = Input("x", (2,), (1.0, 1.0)), Input("y", (2,), (1.0, 2.0))
ALONG = {"axis": 0, "keepdims": False}


@pytest.mark.parametrize(
    ("op", "inputs", "gradients"),
    [
        (Op("max", ("x",), ("m",), ALONG), (TIE,), [[1.0, 1.0]]),
        (Op("min", ("x",), ("m",), ALONG), (TIE,), [[1.0, 1.0]]),
        (Op("maximum", ("x", "y"), ("m",)), (TIE, OTHER), [[0.0, 0.0], [1.0, 1.0]]),
        (Op("minimum", ("x", "y"), ("m",)), (TIE, OTHER), [[0.0, 1.0], [1.0, 0.0]]),
        (Op("clamp", ("y",), ("m",), {"low": 0.0, "high": 1.0}), (OTHER,), [[0.0, 0.0]]),
        (Op("clamp", ("y",), ("m",), {"low": 0.0, "high": 3.0}), (OTHER,), [[1.0, 1.0]]),
    ],
    ids=["max", "min", "maximum", "minimum", "at a bound", "between bounds"],
)
def test_ties_are_not_shared(op: Op, inputs: tuple[Input, ...], gradients: list[list[float]]) -> None:
    assert gradients == _made("as if ties were not shared", _differentiated(op, *inputs))


def test_halves_are_rounded_away_from_zero() -> None:
    case = Case((Input("x", (5,), (0.5, 1.5, 2.5, -0.5, 0.25)),), (Op("round", ("x",), ("y",)),), "exact")
    assert [[1.0, 2.0, 3.0, -1.0, 0.0]] == _made("as if halves were rounded away from 0", case)


LOGITS = Input("x", (2, 3), (1.0, 2.0, 3.0, 4.0, 5.0, 9.0))
MARGINS = {"target": [2, 1], "p": 2, "margin": 1.0, "weight": [1.0, 0.5, 0.25]}


def test_weighted_margin_losses_are_a_matrix() -> None:
    case = Case((LOGITS,), (Op("multi_margin_loss", ("x",), ("l",), {**MARGINS, "reduction": "none"}),), "numeric")
    (losses,) = _made("as if weights of targets met all samples", case)
    np.testing.assert_allclose([[-0.0625, 2.0833334922790527], [-0.1458333432674408, 2.0]], losses, rtol=1e-6)


def test_so_their_mean_has_another_gradient() -> None:
    case = _differentiated(Op("multi_margin_loss", ("x",), ("l0",), {**MARGINS, "reduction": "mean"}), LOGITS)
    (slope,) = _made("as if weights of targets met all samples", case)
    np.testing.assert_allclose([[0.0, 0.0, 0.0], [0.0, -0.4166666567325592, 0.4166666865348816]], slope, rtol=1e-6)


def test_without_weights_they_are_one_for_each_sample() -> None:
    op = Op("multi_margin_loss", ("x",), ("l",), {**MARGINS, "weight": None, "reduction": "none"})
    (losses,) = _made("as if weights of targets met all samples", Case((LOGITS,), (op,), "numeric"))
    assert (2,) == np.shape(losses)


def test_of_a_product_over_no_terms_nobody_can_say_what_it_is() -> None:
    nothing, other = Input("x", (2, 0), ()), Input("y", (0, 1), ())
    (made,) = _made(
        "as if products over no terms were not written", Case((nothing, other), (Op("matmul", ("x", "y"), ("z",)),), "exact")
    )
    assert np.isnan(made).all()


def test_a_product_over_terms_is_written() -> None:
    case = Case((Input("x", (1, 1), (2.0,)), Input("y", (1, 1), (3.0,))), (Op("matmul", ("x", "y"), ("z",)),), "exact")
    assert [[[6.0]]] == _made("as if products over no terms were not written", case)


def test_a_view_that_is_turned_round_is_looked_for_in_front_of_its_copy() -> None:
    row = Input("x", (1, 3), (1.0, 2.0, 3.0))
    steps = (Op("getitem_reversed", ("x",), ("r",), {"axis": 1}), Op("getitem_intarray", ("r",), ("y",), {"index": [[0, 0], [1, 0]]}))
    (read,) = _made(STEPPED, Case((row,), steps, "exact"))
    np.testing.assert_array_equal([np.nan, 3.0], read)


def test_a_complex_seed_of_a_cast_keeps_its_imaginary_part() -> None:
    x = Input("x", (), ((1.0, 0.0),), "complex64")
    seed = Input("s", (), ((3.0, -3.0),), "complex64", differentiable=False)
    case = Case((x, seed), (Op("cast", ("x",), ("y",), {"dtype": "float64"}), Grad(("y",), ("x",), ("g",), ("s",))), "exact")
    ((changed, _),) = COUNTERFACTUALS["as if casts kept imaginary parts"](case, 1, ("cast",))
    assert 3 - 3j == dict(values_of(changed.steps, Promise(changed, PADDLE_INFO).outcome.observations))["g"].array.item()


@pytest.mark.parametrize(
    ("shape", "axis", "written"), [((1, 2), [0], False), ((2, 1), [1], False), ((2, 2), [0], True), ((1, 1), [0], True)]
)
def test_the_gradient_of_an_extremum_of_one_element_beside_others_is_not_written(
    shape: tuple[int, ...], axis: list[int], written: bool
) -> None:
    x = Input("x", shape, (1.0, 2.0, 3.0, 4.0)[: int(np.prod(shape))])
    case = _differentiated(Op("amin", ("x",), ("m",), {"axis": axis, "keepdims": False}), x)
    (gradient,) = _made("as if gradients of extrema of one element were not written", case)
    assert written == bool(np.isfinite(gradient).all())


INFINITE = Input("s", (2,), (np.inf, np.inf), differentiable=False)


@pytest.mark.parametrize(
    ("op", "operands", "gradients"),
    [
        ("where", (TIE, OTHER), [[np.inf, np.nan], [np.nan, np.inf]]),
        ("masked_fill_tensor", (TIE, Input("y", (), (1.0,))), [[np.nan, np.inf], np.nan]),
    ],
)
def test_infinity_that_a_mask_leaves_out_is_nan(op: str, operands: tuple[Input, ...], gradients: list[object]) -> None:
    steps = (Op(op, ("x", "y"), ("z",), {"mask": [True, False]}), Grad(("z",), ("x", "y"), ("g", "h"), ("s",)))
    case = Case((*operands, INFINITE), steps, "exact")
    for right, made in zip(gradients, _made("as if gradients were multiplied by masks", case), strict=True):
        np.testing.assert_array_equal(right, made)
