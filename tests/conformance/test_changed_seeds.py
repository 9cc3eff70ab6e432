"""A seed that a call changes holds what arrived where it was handed on, and is changed by few calls."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from conformance.backends import BackendInfo
from conformance.case.case import Case, Input
from conformance.case.outcome import Value
from conformance.case.steps import Backward, Grad, Hook, InPlace, Op
from conformance.compare.promise import Promise
from conformance.deviations.counterfactuals.rules import RULES
from conformance.deviations.entries import known
from conformance.judge.verdict import Bucket, judge
from reference_impl import PADDLE
from tests.conformance.described import INFO
from tests.conformance.engines import TOTAL, answer

PADDLE_INFO = BackendInfo("paddle", "3.3.1", PADDLE, PADDLE.not_offered)
X = Input("x", (2,), (3.0, -2.0))
PASS = Backward(("y",), retain_graph=True)
VIEWED = Op("reshape", ("x",), ("y",), {"shape": [2]})
"""What hands a view of its cotangent on, which nobody else holds; `clone` hands on that itself, and PyTorch copies it."""


def test_what_a_hook_returned_is_changed_as_a_seed_is() -> None:
    inputs = (Input("x", (2,), (1.0, 2.0)), *(Input(n, (2,), (1.0, 1.0), differentiable=False) for n in "rs"))
    steps = (VIEWED, Hook("y", ("k",), "tensor", tensor_returned="r"))
    case = Case(inputs, (*steps, Backward(("y",), ("s",), retain_graph=True), Backward(("y",), ("s",))), "exact")
    assert judge(Promise(case, INFO), replace(answer(case), mutated=("r",))).deviation == "torch-seed-mutated"


@pytest.mark.parametrize(
    ("held", "bucket"),
    [((3.0, 4.0), Bucket.KNOWN_DEVIATION), ((2.0, 4.0), Bucket.DIVERGED)],
    ids=["what the gradient accumulates", "twice what it was"],
)
def test_a_changed_seed_holds_what_arrived_where_it_was_handed_on(held: tuple[float, ...], bucket: Bucket) -> None:
    inputs = Input("x", (2,), (1.0, 2.0)), *(Input(n, (2,), v, differentiable=False) for n, v in (("s", (1.0, 2.0)), ("t", (2.0, 2.0))))
    twice = Backward(("y",), ("s",), retain_graph=True), Backward(("y",), ("t",))
    case = Case(inputs, (VIEWED, *twice), "exact")
    changed = Value(np.array(held, np.float32), requires_grad=False)
    assert bucket is judge(Promise(case, INFO), replace(answer(case), mutated=("s",), changed=(changed,))).bucket


@pytest.mark.parametrize(
    ("held", "bucket"),
    [((0.0, 3.0), Bucket.KNOWN_DEVIATION), ((1.0, 3.0), Bucket.DIVERGED)],
    ids=["what was written, and what arrived since", "another number"],
)
def test_a_changed_seed_that_was_written_holds_what_was_written_and_what_arrived_since(held: tuple[float, ...], bucket: Bucket) -> None:
    names = {"s": (1.0, 2.0), "t": (2.0, 2.0), "u": (3.0, 1.0)}
    inputs = Input("x", (2,), (1.0, 2.0)), *(Input(name, (2,), values, differentiable=False) for name, values in names.items())
    first, second = Backward(("y",), ("s",), retain_graph=True), Backward(("y",), ("t",))
    case = Case(inputs, (VIEWED, first, InPlace("sub", "s", ("u",)), second), "exact")
    changed = Value(np.array(held, np.float32), requires_grad=False)
    assert bucket is judge(Promise(case, INFO), replace(answer(case), mutated=("s",), changed=(changed,))).bucket


@pytest.mark.parametrize(
    ("first", "bucket"),
    [(3.000008, Bucket.KNOWN_DEVIATION), (3.00008, Bucket.DIVERGED)],
    ids=["as far off as rounding may carry it", "ten times as far"],
)
def test_a_seed_to_which_part_of_a_gradient_was_added_holds_that_as_far_as_it_rounds(first: float, bucket: Bucket) -> None:
    seeds = {"s": (8.0, 2.0), "t": (-5.0, 2.0)}
    inputs = Input("x", (2,), (1.0, 2.0)), *(Input(name, (2,), values, differentiable=False) for name, values in seeds.items())
    twice = Backward(("y",), ("s",), retain_graph=True), Backward(("y",), ("t",))
    case = Case(inputs, (VIEWED, *twice), "numeric")
    changed = Value(np.array((first, 2.0), np.float32), requires_grad=False)
    assert bucket is judge(Promise(case, INFO), replace(answer(case), mutated=("s",), changed=(changed,))).bucket


@pytest.mark.parametrize("finding", ["torch-seed-mutated", "paddle-seed-mutated"])
def test_an_entry_on_changed_seeds_says_what_they_hold(finding: str) -> None:
    (entry,) = (one for one in known() if one.id == finding)
    assert "what arrived where it was handed on" in entry.signature


@pytest.mark.parametrize(
    ("held", "bucket"),
    [((4.0, -2.0), Bucket.KNOWN_DEVIATION), ((-8.0, 4.0), Bucket.DIVERGED), ((4.0, -1.0), Bucket.DIVERGED)],
    ids=["the sum that lies there", "twice what it was, in each pass", "another number"],
)
def test_what_a_hook_of_a_leaf_returns_to_paddle_is_the_gradient_to_which_later_passes_add(
    held: tuple[float, ...], bucket: Bucket
) -> None:
    inputs = X, Input("r", (2,), (-1.0, 0.5), differentiable=False)
    steps = Hook("x", ("h",), "tensor", tensor_returned="r"), Op("sum", ("x",), ("y",), TOTAL), PASS, PASS
    case = Case(inputs, (*steps, Hook("x", ("k",), "scaled", -3.0), PASS), "exact")
    assert bucket is _bucket_of_changed(Promise(case, PADDLE_INFO), "r", held)


@pytest.mark.parametrize(
    ("factor", "bucket"),
    [(1.0, Bucket.KNOWN_DEVIATION), (2.0, Bucket.DIVERGED)],
    ids=["the known wrong gradient", "twice that"],
)
def test_to_a_seed_a_gradient_may_be_added_that_is_wrong_as_is_known(factor: float, bucket: Bucket) -> None:
    """As Paddle 3.3.1 computes that of ``group_norm`` without a weight."""
    seeds = Input("s", (1, 2), (-1.25, -0.75), differentiable=False), Input("t", (1, 2), (0.5, 0.25), differentiable=False)
    steps = (
        Op("mul", ("x", "x"), ("v",)),
        Op("group_norm_noaffine", ("v",), ("y",), {"groups": 1, "eps": 0.001}),
        Grad(("y", "v"), ("x", "v"), ("g", "h"), ("s", "t")),
    )
    promise = Promise(Case((Input("x", (1, 2), (1.0, 1.5)), *seeds), steps, "numeric"), PADDLE_INFO)
    (wrong,) = RULES["as if no mean of what arrives were subtracted"](("group_norm_noaffine",))
    with promise.under(wrong) as changed:
        held = changed.outcome.observations[-1].values[1].array  # type: ignore[union-attr]
    assert bucket is _bucket_of_changed(promise, "t", factor * held)


@pytest.mark.parametrize(
    ("held", "bucket"),
    [((2.0, 3.875), Bucket.KNOWN_DEVIATION), ((2.0, 4.0), Bucket.DIVERGED)],
    ids=["the memory read in the dtype of the leaf, and what arrives", "another number"],
)
def test_a_changed_seed_may_be_read_in_the_dtype_of_its_leaf_as_is_known(held: tuple[float, ...], bucket: Bucket) -> None:
    """The memory of the number 1 in double precision begins with 0 and 1.875 in single precision."""
    wide = Input("s", (2,), (1.0, 3.0), dtype="float64", differentiable=False)
    call = Grad(("y", "x"), ("x",), ("g",), ("t", "s"))
    inputs = X, Input("t", (2,), (1.0, 1.0), differentiable=False), wide
    case = Case(inputs, (Op("mul_scalar", ("x",), ("y",), {"other": 2.0}), call), "exact")
    assert bucket is _bucket_of_changed(Promise(case, PADDLE_INFO), "s", held)


@pytest.mark.parametrize(
    ("held", "bucket"),
    [((4.0, 12.0), Bucket.KNOWN_DEVIATION), ((5.0, 12.0), Bucket.DIVERGED)],
    ids=["the product with what was left there, too", "another number"],
)
def test_a_seed_is_used_as_an_earlier_pass_has_left_it(held: tuple[float, ...], bucket: Bucket) -> None:
    inputs = Input("x", (2,), (1.0, 2.0)), *(Input(n, (2,), (1.0, 2.0), differentiable=False) for n in "st")
    passes = [Backward(("y",), (seed,), retain_graph=True) for seed in "stv"]
    case = Case(inputs, (VIEWED, *passes[:2], Op("mul", ("t", "s"), ("v",)), passes[2]), "exact")
    promise = Promise(case, INFO)
    changed = Value(np.array(held, np.float32), requires_grad=False)
    assert bucket is judge(promise, replace(promise.outcome, mutated=("s",), changed=(changed,))).bucket


@pytest.mark.parametrize(
    ("held", "bucket"),
    [((2.5, 2.5), Bucket.KNOWN_DEVIATION), ((2.5, 2.0), Bucket.DIVERGED)],
    ids=["the number that lies there", "two numbers"],
)
def test_a_gradient_that_is_an_expanded_seed_holds_one_number(held: tuple[float, ...], bucket: Bucket) -> None:
    inputs = X, Input("s", (), (1.5,))
    steps = Op("sum", ("x",), ("y",), TOTAL), Grad(("y",), ("x",), ("g",), ("s",)), Op("sum", ("s",), ("z",), TOTAL)
    case = Case(inputs, (*steps, Backward(("z",), ("s",), retain_graph=True), Backward(("z",))), "exact")
    promise = Promise(case, INFO)
    changed = tuple(Value(np.array(numbers, np.float32), requires_grad=False) for numbers in (2.5, held))
    assert bucket is judge(promise, replace(promise.outcome, mutated=("s", "g"), changed=changed)).bucket


def _bucket_of_changed(promise: Promise, name: str, held: Any) -> Bucket:
    changed = Value(np.asarray(held, np.float32), requires_grad=False)
    return judge(promise, replace(promise.outcome, mutated=(name,), changed=(changed,))).bucket


def test_that_products_are_several_nodes_is_no_reason_for_a_graph_that_a_whole_pass_freed_to_run_again() -> None:
    inputs = Input("x", (1, 2), (1.0, 2.0)), Input("w", (2, 1), (3.0, 4.0)), Input("s", (1, 1), (1.0,), differentiable=False)
    product, again = Op("matmul", ("x", "w"), ("y",)), Grad(("y",), ("x",), ("g",), ("s",))
    freed, kept = (Case(inputs, (product, Backward(("y",), ("s",), flag), again), "exact") for flag in (False, True))
    actual = replace(answer(freed), observations=[*answer(freed).observations[:-1], answer(kept).observations[-1]])
    assert judge(Promise(freed, INFO), actual).bucket is Bucket.DIVERGED


def test_a_seed_that_is_a_view_is_changed_in_the_memory_of_another() -> None:
    inputs = (Input("x", (2, 1), (1.0, 2.0)), Input("s", (1, 2), (1.0, 1.0), differentiable=False))
    steps = (Op("reshape", ("x",), ("y",), {"shape": [2, 1]}), Op("transpose", ("s",), ("t",), {"axis0": 0, "axis1": 1}))
    twice = (Backward(("y",), ("t",), retain_graph=True), Backward(("y",), ("t",)))
    case = Case(inputs, (*steps, *twice), "exact")
    assert judge(Promise(case, INFO), replace(answer(case), mutated=("s",))).deviation == "torch-seed-mutated"


def test_a_seed_behind_which_something_is_computed_is_not_changed() -> None:
    inputs = (Input("x", (2,), (1.0, 2.0)), Input("s", (2,), (1.0, 1.0), differentiable=False))
    twice = (Backward(("y",), ("s",), retain_graph=True), Backward(("y",), ("s",)))
    case = Case(inputs, (Op("square", ("x",), ("y",)), *twice), "exact")
    assert judge(Promise(case, INFO), replace(answer(case), mutated=("s",))).bucket is Bucket.DIVERGED


SEEDED = (VIEWED, Grad(("y",), ("x",), ("g",), ("s",), retain_graph=True))
TWICE = (Backward(("y",), ("s",), retain_graph=True), Backward(("y",), ("s",)))


@pytest.mark.parametrize(
    ("steps", "name", "bucket"),
    [
        ((*SEEDED, *TWICE), "s", Bucket.KNOWN_DEVIATION),
        (SEEDED, "s", Bucket.DIVERGED),
        ((*SEEDED, *TWICE), "x", Bucket.DIVERGED),
    ],
    ids=["a seed after a second pass", "a seed of one pass", "another tensor"],
)
def test_torch_may_change_a_seed_only_where_a_later_pass_adds_to_the_gradient_that_aliases_it(
    steps: tuple[Grad | Backward | Op, ...], name: str, bucket: Bucket
) -> None:
    inputs = (Input("x", (2,), (1.0, 2.0)), Input("s", (2,), (1.0, 1.0), differentiable=False))
    case = Case(inputs, steps, "exact")
    assert bucket is judge(Promise(case, INFO), replace(answer(case), mutated=(name,))).bucket
