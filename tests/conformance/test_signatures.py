"""Signatures: wrong numbers count as a known deviation only if they are the numbers that its entry says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from msgspec.structs import replace as replace_fields

from conformance.backends import BackendInfo
from conformance.campaign.findings.explain import explain_case
from conformance.campaign.workers.pool import Workers
from conformance.case.case import Case, Input
from conformance.case.files import check, read
from conformance.case.place import END, StepNumber
from conformance.case.steps import Backward, Custom, Edge, Grad, Hook, InPlace, Op
from conformance.cli.gate import beside_others
from conformance.compare.compare import Comparer
from conformance.compare.mismatch import Mismatch
from conformance.compare.promise import Promise
from conformance.compare.rounding import agrees_cheaply
from conformance.deviations import explain as known_module
from conformance.deviations.counterfactuals.rules import RULES
from conformance.deviations.counterfactuals.scripts import COUNTERFACTUALS
from conformance.deviations.elements import ELEMENTS
from conformance.deviations.entries import known
from conformance.deviations.findings import evidence
from conformance.deviations.wrong_values import ROUNDINGS_OF, bear_together, bears
from conformance.judge.verdict import Bucket, judge
from reference_impl import PADDLE
from tests.conformance.engines import INFO, TOTAL, answer
from tests.conformance.signed import (
    CONSTANT_SLOPE,
    EMPTIED,
    GRAD,
    IN_A_ROW,
    LOST_AXES,
    ONE_SIDED,
    PRODUCT,
    SAVED,
    TIES,
    K,
    X,
    Y,
    Z,
    entry,
    found,
    wrong,
)

RESHAPED = Case(
    (X,),
    (Op("mul_scalar", ("x",), ("q",), {"other": 2.0}), Op("sum", ("q",), ("z",), TOTAL), GRAD),
    "exact",
)
SLICED = Case(
    (X,),
    (
        Op("getitem_slice", ("x",), ("q",), {"key": [[0, 2, 1]]}),
        Op("mul", ("q", "x"), ("y",)),
        Op("sum", ("y",), ("z",), TOTAL),
        Grad(("z",), ("q",), ("g",)),
    ),
    "exact",
)
HOOKED = Case((X,), (Hook("x", ("k",), "scaled", factor=2.0), Op("sum", ("x",), ("z",), TOTAL), GRAD), "exact")
ROUNDED = Case(
    (Input("x", (2,), (2.0, 3.0), "float64"),),
    (Op("mul_scalar", ("x",), ("q",), {"other": 0.1}), Op("sum", ("q",), ("z",), TOTAL), GRAD),
)
LISTED = Case(
    (Input("x", (1, 1), (2.0,), "float64"), Input("w", (1,), (1.0,), "float64"), Input("b", (1,), (0.0,), "float64")),
    (
        Op("batch_norm_eval", ("x", "w", "b"), ("q",), {"eps": 0.0, "means": [0.0], "variances": [0.1]}),
        Op("sum", ("q",), ("z",), TOTAL),
        GRAD,
    ),
)
AT_BOUND = Case(
    (Input("x", (2,), (0.5, 2.0)),), (Op("hardshrink", ("x",), ("y",), {"bound": 0.5}), Op("sum", ("y",), ("z",), TOTAL), GRAD)
)
CLOSE = float(np.float32(0.1))
WRITTEN = Case((X, K), (InPlace("add", "k", ("k",)), *PRODUCT.steps), "exact")
S = Input("s", (2,), ((0.0, 1.0), (1.0, 0.0)), "complex64", differentiable=False)
SQUARE = Case((Z, S), (Op("mul", ("z", "z"), ("q",)), Grad(("q",), ("z",), ("g",), ("s",))), "exact")
BENT = Case(
    (Z, S),
    (Op("mul", ("z", "z"), ("q",)), Grad(("q",), ("z",), ("g",), ("s",), create_graph=True), Grad(("g",), ("z",), ("h",), ("s",))),
)
QUOTIENT = Case(  # the gradient is s / conj(w); its derivative in w is taken as if that were s / w, but through the conjugate
    (Z, Input("w", (2,), ((1.0, -1.0), (2.0, 0.0)), "complex64"), Input("s", (2,), ((1.0, 0.0), (1.0, 0.0)), "complex64")),
    (Op("div", ("z", "w"), ("q",)), Grad(("q",), ("z",), ("g",), ("s",), create_graph=True), Grad(("g",), ("w",), ("h",), ("s",))),
)
BOTH = Case(  # the gradient in w is made of d, that in z; for r it has the derivative r d (q / w + conj(q / w)) in w
    (*QUOTIENT.inputs, Input("r", (2,), ((0.0, 1.0), (1.0, 0.0)), "complex64")),
    (
        Op("div", ("z", "w"), ("q",)),
        Grad(("q",), ("z", "w"), ("g", "k"), ("s",), create_graph=True),
        Grad(("k",), ("w",), ("h",), ("r",)),
    ),
)
ONE_FOR_TWO = Case(  # the gradient is the sum of s / conj(w); -r s / w^2 is what comes for its derivative in w
    (
        Input("z", (1,), ((1.0, 2.0),), "complex64"),
        Input("w", (2,), ((1.0, -2.0), (2.0, 0.0)), "complex64"),
        Input("s", (2,), ((1.0, 0.0), (1.0, 0.0)), "complex64"),
        Input("r", (1,), ((0.0, 1.0),), "complex64"),
    ),
    (Op("div", ("z", "w"), ("q",)), Grad(("q",), ("z",), ("g",), ("s",), create_graph=True), Grad(("g",), ("w",), ("h",), ("r",))),
)
ANGLE = Input("t", (2,), (0.0, 0.0))
W = Input("w", (1, 2), (5.0, 7.0))
PLANE = Case((X, W), (Op("mul", ("x", "w"), ("q",)), Op("sum", ("q",), ("z",), TOTAL), Grad(("z",), ("x", "w"), ("g", "h"))), "exact")
T = Input("t", (2,), (1.0, 1.0))
TIED = Case(
    (X, Input("c", (2,), (2.0, 4.0), differentiable=False), T),
    (
        Op("maximum", ("x", "c"), ("q",)),
        Grad(("q",), ("x",), ("g",), ("t",), create_graph=True),
        Grad(("g",), ("t",), ("h",), ("t",)),
    ),
    "exact",
)
POWER = Case(
    (X, Input("e", (2,), (0.0, 1.0)), T),
    (
        Op("pow", ("x", "e"), ("q",)),
        Grad(("q",), ("x",), ("g",), ("t",), create_graph=True),
        Grad(("g",), ("e",), ("h",), ("t",)),
    ),
)
BENT_SLOPE = 1 + float(np.log(3.0))
SEEDED = Case(
    (X, Y, Input("s", (2,), (1.5, -2.0), "float64", differentiable=False)),
    (Op("mul", ("x", "y"), ("q",)), Grad(("q",), ("x",), ("g",), ("s",))),
)
LOW, HIGH = np.array([1.5]).view("float32").tolist()
POLAR = Case(
    (Input("r", (2,), (2.0, -2.0)), ANGLE, Input("s", (2,), ((1.0, 0.0), (1.0, 0.0)), "complex64")),
    (Op("polar", ("r", "t"), ("q",)), Grad(("q",), ("r",), ("g",), ("s",))),
)
SHARED = Case(  # x + x + y, for which the backward returns one tensor three times
    (X, Y),
    (
        Custom(("x", "x", "y"), ("q",), (Op("mul", ("x", "y"), ("f",)),), ("f",), ("c",), ("c", "c", "c")),
        Op("sum", ("q",), ("z",), TOTAL),
        Grad(("z",), ("y", "x"), ("g", "h")),
    ),
    "exact",
)
LATER = (
    Case(  # y is the gradient of x y in x, and the seed of x^2 y; the gradient of 2 x y^2 in y is 4 x y, and for a constant seed 2 x y
        (X, Y),
        (
            Op("mul", ("y", "x"), ("p",)),
            Op("sum", ("p",), ("z",), TOTAL),
            Grad(("z",), ("x",), ("q",), create_graph=True),
            Op("mul", ("p", "x"), ("r",)),
            Grad(("r",), ("x",), ("t",), ("q",), create_graph=True),
            Op("sum", ("t",), ("s",), TOTAL),
            Grad(("s",), ("y",), ("g",)),
        ),
        "exact",
    )
)
CAPTURED = Case(
    (X, Y),
    (
        Op("mul_scalar", ("x",), ("q",), {"other": 2.0}),
        Hook("q", ("k",), "scaled", factor=3.0),
        Op("mul", ("q", "y"), ("r",)),
        Op("sum", ("r",), ("z",), TOTAL),
        Grad(("z",), ("q", "x"), ("g", "h")),
    ),
    "exact",
)
EMPTY = Case(  # the sum of nothing, times the seed
    (Input("x", (0, 2), ()), Input("y", (2,), (1.0, 1.0)), Input("s", (), (5.0,)), Input("r", (2,), (3.0, 4.0), differentiable=False)),
    (
        Op("sub", ("x", "y"), ("q",)),
        Op("sum", ("q",), ("z",), TOTAL),
        Grad(("z",), ("y",), ("g",), ("s",), create_graph=True),
        Grad(("g",), ("s",), ("h",), ("r",)),
    ),
    "exact",
)
PADDED = Case(
    (Input("x", (2,), (0.0, 2.0)), Input("s", (3,), (1.0, 1.0, 1.0)), Input("r", (2,), (1.0, 1.0), differentiable=False)),
    (
        Op("pad_constant", ("x",), ("p",), {"before": [1], "after": [0], "value": 2.0}),
        Op("leaky_relu", ("p",), ("y",), {"slope": 0.5}),
        Grad(("y",), ("x",), ("g",), ("s",), create_graph=True),
        Grad(("g",), ("s",), ("h",), ("r",)),
    ),
    "exact",
)
SIGN = Case(  # the gradient of s and of the sum of sgn and its own gradient; nothing is left of the latter if that is made of z
    (Z, S),
    (
        Op("sgn", ("z",), ("q",)),
        Grad(("q",), ("z",), ("g",), ("s",), create_graph=True),
        Op("add", ("g", "q"), ("t",)),
        Grad(("t",), ("q",), ("h",), ("s",)),
    ),
)


A_LITTLE_MORE_THAN_4 = float(np.float32(4.0) + np.spacing(np.float32(4.0)))
ROW = [[0.99950039, 19.990007, 1.9990008], [0.4997502, 9.9950037, 3.9980016]]  # those of a weight of 1, 10 and 2
WIDE = Case(
    (X, Input("s", (2,), (1.0, 2.0), "float64", differentiable=False), Input("t", (2,), (3.0, 4.0), differentiable=False)),
    (Op("mul_scalar", ("x",), ("y",), {"other": 2.0}), Grad(("x", "y"), ("x",), ("g",), ("s", "t"))),
    "exact",
)
BORNE = {
    "zeros": (PRODUCT, [0.0, 0.0], [0.0, 1.0]),
    "ones": (PRODUCT, [1.0, 6.0], [1.0, 2.0]),
    "nan": (PRODUCT, [np.nan, 6.0], [np.nan, 1.0]),
    "not finite": (PRODUCT, [np.nan, -np.inf], [np.inf, 1.0]),
    "subnormal": (PRODUCT, [1e-40, 6.0], [1e-30, 6.0]),
    "off by 2 roundings of 1": (PRODUCT, [4.0, 6.0], [4.0, 6.1]),
    "doubled": (PRODUCT, [8.0, 6.0], [8.0, 18.0]),
    "the memory of another gradient": (PLANE, [2.0, 3.0], [3.0, 3.0]),  # that of w, in another shape
    TIES: (TIED, [0.0, 0.0], [1.0, 0.0]),
    CONSTANT_SLOPE: (POWER, [0.0, BENT_SLOPE], [0.25, BENT_SLOPE]),
    "what was written to a tensor": (WRITTEN, [4.0, 2.0], [1.0, 2.0]),
    "as if an operand were a constant": (PRODUCT, [2.0, 3.0], [2.0, 4.0]),
    "as if an op were left out": (RESHAPED, [1.0, 1.0], [1.0, 2.0]),
    "as if ops that return their operand were left out": (SLICED, [4.0, 6.0], [4.0, 3.0]),
    "as if a hook answered nothing": (HOOKED, [1.0, 1.0], [3.0, 3.0]),
    "as if gradients were captured before hooks": (CAPTURED, [5.0, 7.0], [5.0, 8.0]),
    EMPTIED: (EMPTY, -7.0, -3.5),
    "as if a bound were nearer": (AT_BOUND, [1.0, 1.0], [0.5, 1.0]),
    "as if numbers were float32": (ROUNDED, [CLOSE, CLOSE], [0.1001, 0.1]),
    "as if numbers in lists were float32": (LISTED, [[float(np.float32(0.1)) ** -0.5]], [[0.1001**-0.5]]),
    "as if the memory of a seed were read in single precision": (SEEDED, [5 * LOW, 7 * HIGH], [5 * HIGH, 7 * HIGH]),
    "as if seeds were read in the dtypes of their leaves": (WIDE, [6.0, 8.0 + 1.875], [6.0, 10.0 + 1.875]),  # 1.0 is 0 and 1.875
    "off by roundings of float32": (ROUNDED, [0.1 + 1e-8, 0.1], [0.1001, 0.1]),
    "as if seeds were gradients in the first operand": (LATER, [20.0, 42.0], [20.0, 43.0]),
    "as if gradients were summed in place": (SHARED, [2.0, 2.0], [2.0, 3.0]),
    "as if sgn were its operand over its size": (SIGN, [1j, 1.0], [1j, 2.0]),
    "as if polar were differentiated through its result": (POLAR, [1.0, -1.0], [1.0, 0.5]),
    # The gradient is 2 s conj(z), here [4 + 2i, 6 + 2i]; that of the gradient is 2 s conj(s), here [2, 2].
    "as if factors were not conjugated": (SQUARE, [-4 + 2j, 6 - 2j], [-4 + 2j, 6 + 1j]),
    "as if seeds were conjugated": (SQUARE, [-4 - 2j, 6 + 2j], [4 - 2j, 6 + 2j]),
    "as if seeds of derivatives were not conjugated": (BENT, [-2, 2], [-2, -2]),
    "as if derivatives of quotients were half conjugated": (QUOTIENT, [-0.5, -0.25], [0.5, -0.25]),
    LOST_AXES: (read(evidence("torch-batched-group-norm")), [[[[-0.392462, 0], [-0.3373232, 0]]]], [[[[-0.392462, 0], [-0.337, 0]]]]),
    IN_A_ROW: (read(evidence("torch-batch-norm-strided-weight")), ROW, [ROW[0], [*ROW[1][:2], 3.99]]),
    "as if saved gradients of roots were overwritten": (
        read(evidence("paddle-sqrt-double-view")),
        [-9 / 512 / 2**0.5],
        [-9.1 / 512 / 2**0.5],
    ),
    SAVED: (read(evidence("torch-norm-triple")), [-0.3628837, 0, 0], [-0.3628837, 0, 0.0001]),
    "as if derivatives in divisors conjugated nothing": (BOTH, [-1 - 1j, 0.75], [-1 - 1j, 0.5]),
    "as if derivatives of broadcast quotients conjugated nothing": (ONE_FOR_TWO, [0.16 + 0.12j, -0.25j], [0.16 + 0.12j, -0.26j]),
}


@pytest.mark.parametrize("words", BORNE)
def test_numbers_that_are_what_the_entry_says_bear_its_signature(words: str) -> None:
    case, got, _ = BORNE[words]
    assert bears(entry(words), Promise(case, INFO), found(case, got))


@pytest.mark.parametrize("words", BORNE)
def test_other_wrong_numbers_do_not_bear_it(words: str) -> None:
    case, _, got = BORNE[words]
    assert not bears(entry(words), Promise(case, INFO), found(case, got))


@pytest.mark.parametrize(
    ("got", "borne"),
    [([6.0, 1e30, -3.0], True), ([6.0, 6.0, -3.0], True), ([6.5, 1e30, -3.0], False)],
    ids=["any", "one right", "the first"],
)
def test_what_lies_behind_the_end_of_a_memory_may_be_any_number_and_the_rest_is_as_predicted(got: list[float], borne: bool) -> None:
    inputs = Input("x", (1, 3), (2.0, 3.0, 4.0)), Input("one", (1,), (2.0,)), Input("b", (3,), (0.0, 0.0, 0.0))
    seed = Input("s", (1, 3), (3.0, 3.0, 3.0), differentiable=False)
    steps = (
        Op("expand", ("one",), ("w",), {"shape": [3]}),
        Op("batch_norm_eval", ("x", "w", "b"), ("y",), {"eps": 0.0, "means": [0.0] * 3, "variances": [1.0] * 3}),
        Grad(("y",), ("x",), ("g",), ("s",)),
    )
    case = Case((*inputs, seed), steps)
    assert borne == bears(entry(IN_A_ROW), Promise(case, INFO), found(case, [got]))


def test_a_gradient_that_is_lost_is_no_subnormal_number() -> None:
    assert not bears(entry("subnormal"), Promise(PRODUCT, INFO), found(PRODUCT, [0.0, 6.0]))


@pytest.mark.parametrize(("got", "borne"), [([2.0, 2.0, 1.0, 1.0], True), ([2.0, 3.0, 1.0, 1.0], False), ([1.0, 1.0, 2.0, 2.0], False)])
def test_the_gradient_of_what_was_broadcast_may_lie_over_the_first_numbers_of_another(got: list[float], borne: bool) -> None:
    steps = (
        Op("add", ("x", "y"), ("p",)),
        Op("reshape", ("p",), ("q",), {"shape": [4]}),
        Op("sum", ("q",), ("z",), TOTAL),
        Grad(("z",), ("q", "x"), ("g", "h")),
    )
    case = Case((X, Input("y", (2, 2), (0.0, 0.0, 0.0, 0.0), differentiable=False)), steps, "exact")
    assert borne == bears(entry("the memory of another gradient"), Promise(case, INFO), found(case, got))


@pytest.mark.parametrize(("got", "borne"), [([2.0, 0.5, 1.0], True), ([2.0, 0.5, 0.5], False), ([1.0, 0.5, 1.0], False)])
def test_two_entries_are_borne_together_where_the_rules_of_both_are_wrong(got: list[float], borne: bool) -> None:
    promise = Promise(PADDED, BackendInfo("other", "1.0", PADDLE, PADDLE.not_offered))
    right = promise.outcome.observations[-1].values[0].array  # type: ignore[union-attr]
    differs = Mismatch(3, "value", "result", "right", "wrong", "h", "h", 0, right, np.array(got, right.dtype))
    padded, sided = entry("as if borders were filled in derivatives"), entry(ONE_SIDED)
    assert [False, False, borne] == [
        bears(padded, promise, differs),
        bears(sided, promise, differs),
        bear_together(padded, sided, promise, differs),
    ]


@pytest.mark.parametrize(("off", "borne"), [(1e-15, True), (1e-12, False)])
def test_two_entries_are_borne_together_where_numbers_are_about_what_a_script_predicts(off: float, borne: bool) -> None:
    case = Case((Input("x", (1,), (1.0,), "float64"),), (Op("mul_scalar", ("x",), ("y",), {"other": 0.1}),))
    differs = found(case, [float(np.float32(0.1)) + off])
    single, rounded = entry("as if numbers were float32"), entry("off by 32 roundings of 1")
    assert [False, borne] == [
        bears(rounded, Promise(case, INFO), differs),
        bear_together(single, rounded, Promise(case, INFO), differs),
    ]


@pytest.mark.parametrize(("got", "borne"), [(-2j, True), (-3j, False)])
def test_an_op_that_a_dialect_makes_of_another_primitive_has_the_rules_of_that_one_changed(got: complex, borne: bool) -> None:
    seed = Input("s", (), ((0.0, 2.0),), "complex64", differentiable=False)
    steps = (Op("einsum_single", ("z",), ("q",), {"equation": "i->"}), Grad(("q",), ("z",), ("g",), ("s",)))
    info = BackendInfo("other", "1.0", PADDLE, PADDLE.not_offered)
    named = replace_fields(entry("as if seeds were conjugated"), above=("einsum_single",))
    case = Case((Z, seed), steps, "exact")
    assert borne == bears(named, Promise(case, info), found(case, [got, -2j]))


@pytest.mark.parametrize(("got", "borne"), [([8.0, 12.0], True), ([8.0, 13.0], False)])
def test_what_was_written_to_is_a_constant_to_the_in_place_op_alone(got: list[float], borne: bool) -> None:
    steps = (
        Op("square", ("x",), ("v",)),
        InPlace("mul", "v", ("x",)),
        Grad(("v",), ("x",), ("g",), create_graph=True),
        Grad(("g",), ("x",), ("h",)),
    )
    promise = Promise(Case((X,), steps, "exact"), BackendInfo("other", "1.0", PADDLE, PADDLE.not_offered))
    right = promise.outcome.observations[3].values[0].array  # type: ignore[union-attr]
    assert right.tolist() == [12.0, 18.0]  # of x^2 + 2 x x, where the first x^2 is taken for a constant
    differs = Mismatch(3, "value", "result", "right", "wrong", "h", "h", 0, right, np.array(got, right.dtype))
    assert borne == bears(entry("as if in-place ops kept their operand as a constant"), promise, differs)


def test_a_conjugate_that_the_script_asks_for_is_one_to_paddle_too() -> None:
    real = Input("x", (1,), (2.0,))
    s, r = (Input(n, (1,), ((1.0, 1.0),), "complex64", differentiable=False) for n in "sr")
    steps = (
        Op("conj", ("z",), ("c",)),
        Op("mul", ("c", "x"), ("q",)),
        Grad(("q",), ("z",), ("g",), ("s",), create_graph=True),
        Grad(("g",), ("x",), ("h",), ("r",)),
    )
    case = Case((Input("z", (1,), ((1.0, 2.0),), "complex64"), real, s, r), steps, "exact")
    assert bears(
        entry("as if seeds of derivatives were not conjugated"), Promise(case, INFO), found(case, [2.0])
    )  # Re(s conj(r)), for Re(s r)


@pytest.mark.parametrize(("got", "borne"), [([4.0, 6.0], True), ([4.0, 7.0], False)])
def test_a_root_that_was_its_own_seed_and_is_skipped_bears_its_signature(got: list[float], borne: bool) -> None:
    steps = (Op("square", ("x",), ("q",)), Grad(("x",), ("x",), ("g",), ("x",)), Backward(("x", "q")))
    promise = Promise(Case((X,), steps, "exact"), BackendInfo("other", "1.0", PADDLE, PADDLE.not_offered))
    wanted = np.array([5.0, 7.0], "float32")
    assert agrees_cheaply(wanted, promise.outcome.final[0].array)  # type: ignore[union-attr]
    differs = Mismatch(2, "value", "grad", "right", "wrong", "x.grad", "x", 0, wanted, np.array(got, "float32"))
    assert borne == bears(entry("as if seeds of identities were constants"), promise, differs)


@pytest.mark.parametrize(("got", "borne"), [([0.0, np.nan], True), ([0.0, 1.0], False)])
def test_an_entry_with_two_signatures_of_elements_is_borne_by_a_mixture(got: list[float], borne: bool) -> None:
    assert borne == bears(entry("zeros", "nan"), Promise(PRODUCT, INFO), found(PRODUCT, got))


@pytest.mark.parametrize(("lane", "borne"), [("numeric", True), ("exact", False)])
def test_an_element_that_is_off_by_a_rounding_needs_no_signature_where_numbers_round(lane: str, borne: bool) -> None:
    case = Case(PRODUCT.inputs, PRODUCT.steps, lane)
    assert borne == bears(entry("nan"), Promise(case, INFO), found(case, [A_LITTLE_MORE_THAN_4, np.nan]))


@pytest.mark.parametrize(("got", "borne"), [([0.0, 99.0], True), ([1.0, 99.0], False)])
def test_a_seed_that_is_freed_may_hold_any_number_which_comes_to_nothing_else(got: list[float], borne: bool) -> None:
    steps = (
        Op("getitem_slice", ("x",), ("q",), {"key": [[1, 2, 1]]}),
        Op("roll", ("q",), ("z",), {"axis": 0, "shift": 1}),
        Grad(("z",), ("x",), ("g",), ("q",)),
    )
    case = Case((X,), steps, "exact")
    assert borne == bears(entry("as if seeds that are operands were freed"), Promise(case, INFO), found(case, got))


def test_a_prediction_of_the_right_numbers_explains_no_small_error() -> None:
    steps = (Op("mul_scalar", ("x",), ("q",), {"other": 1.0}), *RESHAPED.steps[1:])  # it may be left out without a trace
    case = Case(RESHAPED.inputs, steps, "exact")
    left_out = entry("as if an op were left out")
    assert not bears(left_out, Promise(case, INFO), found(case, [1.0, float(np.nextafter(np.float32(1), np.float32(2)))]))


def test_a_difference_of_another_kind_needs_no_signature() -> None:
    flag = replace(found(PRODUCT, [0.0, 0.0]), kind="flag")
    assert bears(entry("nan"), Promise(PRODUCT, INFO), flag)


@pytest.mark.parametrize(("requires_grad", "borne"), [("constant", True), ("requires_grad", False)])
def test_a_flag_is_borne_where_a_counterfactual_script_has_it(requires_grad: str, borne: bool) -> None:
    """Without its one operand that is no constant the sum is one, and nothing makes it anything else."""
    case = Case((Input("x", (2,), (1.0, 2.0)),), (Op("mul_scalar", ("x",), ("y",), {"other": 2.0}), Op("sum", ("y",), ("z",), TOTAL)))
    flag = Mismatch(1, "flag", "result", "requires_grad", requires_grad, "z", "z")
    assert borne == bears(entry("as if an operand were a constant"), Promise(case, INFO), flag)


@pytest.mark.parametrize(("got", "borne"), [(-0.096234212 - 0.168864469j, True), (-0.096234212 + 0.168864469j, False)])
def test_third_derivatives_of_a_complex_log_may_be_right_of_the_wrong_second_one(got: complex, borne: bool) -> None:
    """The second derivatives of ``log(log z)`` are right where those of both are wrong; the third one was worked out by hand."""
    steps = (
        Op("log", ("z",), ("u",)),
        Op("log", ("u",), ("v",)),
        Grad(("v",), ("z",), ("g",), ("s",), create_graph=True),
        Grad(("g",), ("z",), ("h",), ("s",), create_graph=True),
        Grad(("h",), ("z",), ("k",), ("s",)),
    )
    inputs = Input("z", (), ((1.0, 2.0),), "complex64"), Input("s", (), ((1.0, 0.0),), "complex64", differentiable=False)
    case, logged = Case(inputs, steps), replace_fields(entry("as if derivatives conjugated nothing"), above=("log",))
    assert borne == bears(logged, Promise(case, INFO), found(case, got))


@pytest.mark.parametrize(("numbers", "bucket"), [([0.0, 0.0], Bucket.KNOWN_DEVIATION), ([0.0, 1.0], Bucket.DIVERGED)])
def test_an_entry_that_would_hide_more_than_it_says_does_not(
    monkeypatch: pytest.MonkeyPatch, numbers: list[float], bucket: Bucket
) -> None:
    monkeypatch.setattr(known_module, "about", lambda *_: (entry("zeros"),))
    assert bucket == judge(Promise(PRODUCT, INFO), wrong(PRODUCT, numbers)).bucket


FULL = Case(
    (X, Y),
    (
        Op("mul", ("x", "y"), ("q",)),
        Hook("q", ("k",), "scaled", factor=2.0),
        Op("square", ("q",), ("r",)),
        Edge("r", ("e",)),
        Op("sum", ("r",), ("z",), TOTAL),
        Grad(("z", "r"), ("x",), ("g",), (None, "q"), retain_graph=True, create_graph=True),
        Op("mul", ("g", "x"), ("s",)),
        Backward(("z",), retain_graph=True, inputs=("q", "e")),
        Grad(("s",), ("y",), ("h",), ("x",)),
    ),
    "exact",
)


@pytest.mark.parametrize("words", COUNTERFACTUALS)
@pytest.mark.parametrize("number", [END, 5, 7, 8])
def test_a_counterfactual_is_a_case_and_keeps_the_step_in_question(words: str, number: StepNumber) -> None:
    for case, at in COUNTERFACTUALS[words](FULL, number, ()):
        check(case)
        assert number is END or at is END or type(case.steps[at]) is type(FULL.steps[number])


def test_every_signature_is_used_and_every_entry_that_has_none_says_why() -> None:
    valued = [e for e in known() if "value" in e.kinds]
    assert all(e.signature or e.unpredictable for e in valued)
    used = {words for e in known() for words in (*e.signature, *e.instead)}
    used |= {rule for words, rule in ROUNDINGS_OF.items() if words in used}
    assert {*ELEMENTS, *COUNTERFACTUALS, *RULES} <= used | {words.removeprefix("off by roundings of float32, ") for words in used}


@pytest.mark.parametrize("words", RULES)
def test_the_rules_are_right_again_afterwards(words: str) -> None:
    before = repr([answer(case) for case in (SQUARE, BENT)])
    bears(entry(words), Promise(BENT, INFO), found(BENT, [9, 9]))
    assert before == repr([answer(case) for case in (SQUARE, BENT)])


def test_a_difference_carries_its_elements_for_the_signature() -> None:
    mismatch = Comparer(Promise(PRODUCT, INFO)).run(wrong(PRODUCT, [1.0, 1.0])).mismatch
    assert mismatch is not None
    assert ([4.0, 6.0], [1.0, 1.0]) == (mismatch.expected_array.tolist(), mismatch.actual_array.tolist())


def test_the_evidence_of_an_entry_shows_beside_a_dead_branch_too() -> None:
    case = beside_others(read(evidence("torch-view-in-no-grad")))
    with Workers(("torch",), 1) as workers:
        verdict = workers.call(explain_case, case, "torch").verdict
    assert verdict.deviations == ("torch-view-in-no-grad",)


def test_a_custom_backward_that_returns_too_few_gradients_is_not_fitted() -> None:
    few = Custom(("x", "y"), ("q",), (Op("mul", ("x", "y"), ("f",)),), ("f",), ("c",), ("c",))
    case = Case((X, Y), (few, Op("sum", ("q",), ("z",), TOTAL), GRAD))
    assert [] == [*COUNTERFACTUALS["as if gradients of custom functions had the shapes of the operands"](case, 2, ())]
