"""Signatures of tensors that keep or lose a history: what was written, seeds that are stopped or returned, and leaves of a dump."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace as replace_fields

from conformance.backends import BackendInfo
from conformance.case.case import Case, Input
from conformance.case.files import check
from conformance.case.steps import Backward, Custom, Grad, InPlace, Op, SetRequiresGrad
from conformance.compare.mismatch import Mismatch
from conformance.compare.promise import Promise
from conformance.compare.rounding import agrees_cheaply
from conformance.deviations.counterfactuals.scripts import COUNTERFACTUALS
from conformance.deviations.wrong_values import bears
from reference_impl import PADDLE
from tests.conformance.engines import TOTAL, answer
from tests.conformance.signed import UNDRAWN, K, X, Y, entry


@pytest.mark.parametrize(("ends", "borne"), [([1, 2], True), ([2, 1], False)])
def test_a_leaf_that_a_dump_draws_for_what_was_written_to_bears_its_signature(ends: list[int], borne: bool) -> None:
    info = BackendInfo("other", "1.0", PADDLE, PADDLE.not_offered)
    case = Case((X, K), (InPlace("setitem", "k", ("x",), {"key": [[0, 2, 1]]}), Backward(("k",), dump_backward_graph=True)))
    drawn = Mismatch(1, "value", "event", "right", "wrong", ".dot", ".dot", 0, np.array([1, 1]), np.array(ends))
    assert borne == bears(entry("as if written constants required a gradient"), Promise(case, info), drawn)


@pytest.mark.parametrize(("scale_too", "ends", "borne"), [(False, [1, 2], True), (False, [1, 3], False), (True, [1, 3], False)])
def test_a_dump_without_the_arrow_to_a_lone_parameter_bears_its_signature(scale_too: bool, ends: list[int], borne: bool) -> None:
    image, shift = Input("x", (2, 1), (1.0, 2.0), differentiable=False), Input("b", (1,), (1.0,))
    norm = Op("batch_norm_train", ("x", "s", "b"), ("y",), {"eps": 1e-3})
    steps = (norm, Op("sum", ("y",), ("z",), TOTAL), Backward(("z",), dump_backward_graph=True))
    case = Case((image, Input("s", (1,), (1.0,), differentiable=scale_too), shift), steps)
    promise = Promise(case, BackendInfo("other", "1.0", PADDLE, PADDLE.not_offered))
    drawn = Mismatch(2, "value", "event", "right", "wrong", ".dot", ".dot", 0, np.array([1, 1 + scale_too]), np.array(ends))
    assert borne == bears(entry(UNDRAWN), promise, drawn)


@pytest.mark.parametrize(
    ("beside", "ends", "borne"),
    [(False, [2, 3], True), (False, [2, 2], False), (True, [1, 3], False), (True, [2, 3], False)],
    ids=["the node runs by itself", "and hands on less", "another arrow leads there", "and is not drawn"],
)
def test_a_dump_without_the_arrow_to_what_a_custom_function_left_out_bears_its_signature(
    beside: bool, ends: list[int], borne: bool
) -> None:
    """As Paddle 3.3.1 draws it: an arrow is where something went."""
    halved = Custom(("p", "k"), ("h",), (Op("mul", ("p", "k"), ("f",)),), ("f",), ("c",), (None, "c"))
    steps = (Op("mul", ("x", "y"), ("p",)), halved, Op("add", ("h", "p" if beside else "h"), ("r",)), Op("sum", ("r",), ("z",), TOTAL))
    case = Case((X, Y, replace_fields(K, differentiable=True)), (*steps, Backward(("z",), dump_backward_graph=True)), "exact")
    promise = Promise(case, BackendInfo("other", "1.0", PADDLE, PADDLE.not_offered))
    drawn = Mismatch(4, "value", "event", "right", "wrong", ".dot", ".dot", 1, np.array([1, 3]), np.array(ends))
    assert borne == bears(entry("as if arrows were drawn where something went"), promise, drawn)


@pytest.mark.parametrize(("batch", "leaves", "borne"), [((), 2, True), ((), 3, False), ((2,), 4, True), ((2,), 3, False)])
def test_leaves_that_a_dump_draws_for_what_an_op_writes_into_bear_its_signature(
    batch: tuple[int, ...], leaves: int, borne: bool
) -> None:
    """Paddle 3.3.1 makes `householder_product` of ``eye`` for each matrix, and puts those of a batch into ``zeros``."""
    count = int(np.prod(batch))
    x = Input("a", (*batch, 2, 1), (1.0, 2.0) * count, differentiable=False)
    tau = Input("t", (*batch, 1), (2.0,) * count)
    case = Case((x, tau), (Op("householder_product", ("a", "t"), ("h",)), Backward(("h",), dump_backward_graph=True)))
    info = BackendInfo("other", "1.0", PADDLE, PADDLE.not_offered)
    drawn = Mismatch(1, "value", "event", "right", "wrong", ".dot", ".dot", 0, np.array([1, 1]), np.array([1, leaves]))
    written = replace_fields(entry("as if constants that an op writes into required a gradient"), above=("householder_product",))
    assert borne == bears(written, Promise(case, info), drawn)


def test_a_computed_constant_that_is_written_has_the_gradient_of_what_it_was() -> None:
    """As Paddle 3.3.1 does it: the gradient of ``sum(d x)`` in d is x."""
    made, written = Op("square", ("k",), ("d",)), InPlace("mul", "d", ("x",))
    case = Case((X, K), (made, written, Op("sum", ("d",), ("z",), TOTAL), Backward(("z",))), "exact")
    ((variant, number),) = COUNTERFACTUALS["as if written constants required a gradient"](case, 3, ())
    check(variant)
    _, kept = answer(variant).observations[int(number)].state  # type: ignore[union-attr, misc]
    assert list(X.data) == kept.array.tolist()


@pytest.mark.parametrize(("got", "borne"), [([36.0, 81.0], True), ([36.0, 82.0], False)])
def test_a_stopped_seed_with_its_history_bears_its_signature(got: list[float], borne: bool) -> None:
    steps = (
        Op("square", ("x",), ("s",)),
        SetRequiresGrad("s", requires_grad=False),
        Op("mul_scalar", ("x",), ("y",), {"other": 3.0}),
        Grad(("y",), ("x",), ("g",), ("s",), create_graph=True),
        Op("mul", ("x", "g"), ("z",)),
        Grad(("z",), ("x",), ("h",)),  # 3 s is [12, 27]; the derivative of 3 x^3 is [36, 81]
    )
    promise = Promise(Case((X,), steps, "exact"), BackendInfo("other", "1.0", PADDLE, PADDLE.not_offered))
    wanted = np.array([12.0, 27.0], "float32")
    assert agrees_cheaply(wanted, promise.outcome.observations[5].values[0].array)  # type: ignore[union-attr]
    differs = Mismatch(5, "value", "result", "right", "wrong", "h", "h", 0, wanted, np.array(got, "float32"))
    assert borne == bears(entry("as if seeds kept their history"), promise, differs)


@pytest.mark.parametrize(("got", "borne"), [([36.0, 81.0], True), ([36.0, 82.0], False)])
def test_a_returned_seed_with_its_history_bears_its_signature(got: list[float], borne: bool) -> None:
    steps = (
        Op("square", ("x",), ("s",)),
        Grad(("y",), ("y",), ("r",), ("s",)),
        Op("mul_scalar", ("y",), ("z",), {"other": 3.0}),
        Grad(("z",), ("y",), ("g",), ("r",), create_graph=True),
        Op("mul", ("x", "g"), ("p",)),
        Grad(("p",), ("x",), ("h",)),  # 3 r is [12, 27]; the derivative of 3 x^3 is [36, 81]
    )
    promise = Promise(Case((X, Y), steps, "exact"), BackendInfo("other", "1.0", PADDLE, PADDLE.not_offered))
    wanted = np.array([12.0, 27.0], "float32")
    assert agrees_cheaply(wanted, promise.outcome.observations[5].values[0].array)  # type: ignore[union-attr]
    differs = Mismatch(5, "value", "result", "right", "wrong", "h", "h", 0, wanted, np.array(got, "float32"))
    assert borne == bears(entry("as if returned seeds kept their history"), promise, differs)
