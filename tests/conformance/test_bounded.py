"""Entries that nobody can predict as a whole, each bounded by what can be said: what lies beyond is a divergence."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np
import pytest

from conformance.backends import BackendInfo
from conformance.case.case import Case, Input
from conformance.case.files import read
from conformance.case.outcome import Computed, Outcome, Raised, Value
from conformance.case.steps import Backward, Grad, Op
from conformance.compare.promise import Promise
from conformance.deviations.findings import evidence
from conformance.judge.verdict import Bucket, judge
from reference_impl import PADDLE, TORCH, Category
from tests.conformance.engines import TOTAL

INFO = BackendInfo("paddle", "3.3.1", PADDLE, PADDLE.not_offered)
OF_TORCH = BackendInfo("torch", "2.13.0", TORCH, TORCH.not_offered)


def leaf(name: str, dtype: str = "float32", data: tuple[float, ...] = (1.0, 1.0), *, differentiable: bool = True) -> Input:
    """Make an input."""
    return Input(name, (len(data),), data, dtype, differentiable=differentiable)


def left(promise: Promise, grads: dict[int, dict[str, np.ndarray]]) -> Outcome:
    """Return what an engine answers that leaves other ``.grad``, by the first step after which they are there."""
    case, changed, observations = promise.case, dict[str, np.ndarray](), []
    for number, seen in enumerate(promise.outcome.observations):
        changed.update(grads.get(number, {}))
        if isinstance(seen, Computed) and seen.state is not None:
            held = zip(case.watched, seen.state, strict=True)
            state = tuple(Value(changed[name], requires_grad=True) if name in changed else value for name, value in held)
            observations.append(replace(seen, state=state))
        else:
            observations.append(seen)
    held = zip(case.watched, promise.outcome.final, strict=True)
    final = tuple(Value(changed[name], requires_grad=True) if name in changed else value for name, value in held)
    return replace(promise.outcome, observations=observations, final=final)


SINGLE_OVER_DOUBLE = Case(
    (leaf("w", "float64"), leaf("u", data=(1.0, 2.0), differentiable=False), leaf("other")),
    (Backward(("w",), ("w",)), Backward(("w",), ("u",)), Op("square", ("other",), ("y",)), Backward(("y",), ("other",))),
    "exact",
)
"""A float64 leaf whose ``.grad`` is added to by a float32 seed, and another leaf."""
READ = np.array([1.0, 3.875], np.float32)
"""What that comes to: the first four bytes of 1.0 are zeros, and the other four are 1.875."""


@pytest.mark.parametrize(
    ("got", "bucket"),
    [
        (READ, Bucket.KNOWN_DEVIATION),
        (READ + np.float32(1.0), Bucket.DIVERGED),
        (READ.astype(np.float16), Bucket.DIVERGED),
        (np.array([3.0, 1.0], np.float32), Bucket.DIVERGED),
    ],
    ids=["read as single", "other numbers", "half precision", "the right ones the other way round"],
)
def test_a_double_gradient_that_a_single_seed_is_added_to_is_read_as_single(got: np.ndarray, bucket: Bucket) -> None:
    promise = Promise(SINGLE_OVER_DOUBLE, INFO)
    assert bucket == judge(promise, left(promise, {1: {"w": got}})).bucket


@pytest.mark.parametrize(
    ("roots", "got", "bucket"),
    [
        (("w", "g"), np.array([2.0, -7.0], np.float32), Bucket.KNOWN_DEVIATION),
        (("w", "g"), np.array([2.0, -6.0], np.float32), Bucket.DIVERGED),
        (("g", "w"), np.array([2.0, 1e30]), Bucket.KNOWN_DEVIATION),
        (("w",), np.array([2.0, 1e30]), Bucket.DIVERGED),
    ],
    ids=["read as single", "other numbers", "read beyond its end", "no gradient of a seed"],
)
def test_the_gradient_of_a_double_seed_of_a_single_root_is_added_to_what_is_read_in_the_dtype_of_what_comes_last(
    roots: tuple[str, ...], got: np.ndarray, bucket: Bucket
) -> None:
    """Of double precision 2 and 6 begin with 0 and 2 in single precision, to which 2 and -9 are added."""
    inputs = (
        *(leaf("x"), leaf("c", data=(2.0, -3.0), differentiable=False), leaf("s", "float64")),
        *(leaf("t", data=(1.0, 3.0), differentiable=False), leaf("r", "float64", data=(1.0, 3.0), differentiable=False)),
    )
    steps = (
        *(Op("mul", ("x", "c"), ("y",)), Grad(("y",), ("x",), ("g",), ("s",), create_graph=True)),
        *(Op("mul_scalar", ("s",), ("w",), {"other": 2.0}), Backward(roots, tuple({"w": "r", "g": "t"}[root] for root in roots))),
    )
    promise = Promise(Case(inputs, steps, "exact"), INFO)
    assert bucket == judge(promise, left(promise, {3: {"s": got}})).bucket


def test_what_another_leaf_accumulates_is_no_consequence_of_a_gradient_that_was_wrong_before() -> None:
    promise = Promise(SINGLE_OVER_DOUBLE, INFO)
    wrong = left(promise, {1: {"w": READ}, 3: {"other": np.array([7.0, 7.0], np.float32)}})
    verdict = judge(promise, wrong)
    assert verdict.mismatch is not None
    assert (Bucket.DIVERGED, 3, "other") == (verdict.bucket, verdict.mismatch.step, verdict.mismatch.name)


@pytest.mark.parametrize(("name", "bucket"), [("w", Bucket.KNOWN_DEVIATION), ("other", Bucket.DIVERGED)])
def test_beside_a_leaf_that_has_a_seed_of_a_narrower_dtype_the_others_are_right(name: str, bucket: Bucket) -> None:
    inputs = leaf("w", "float64"), leaf("u", data=(1.0, 2.0), differentiable=False), leaf("other", "float64")
    steps = Op("mul", ("w", "other"), ("y",)), Backward(("y", "w"), ("w", "u"))
    promise = Promise(Case(inputs, steps, "exact"), INFO)
    assert bucket == judge(promise, left(promise, {1: {name: np.array([40.0, 50.0])}})).bucket


def refused(promise: Promise, message: str) -> Outcome:
    """Return what an engine answers that refuses the last call with an error of its inside."""
    *before, _ = promise.outcome.observations
    state = tuple(None for _ in promise.case.watched)
    return replace(promise.outcome, observations=[*before, Raised(Category.UNMAPPED, message, state)], final=state)


EMPTY = Input("e", (0, 2), ()), Input("w", (2, 2), (1.0, 2.0, 3.0, 4.0)), Input("x", (2,), (2.0, 3.0))


@pytest.mark.parametrize(("root", "bucket"), [("p", Bucket.KNOWN_DEVIATION), ("q", Bucket.DIVERGED)], ids=["product", "square"])
def test_beside_a_product_without_elements_other_gradients_have_all_that_they_need(root: str, bucket: Bucket) -> None:
    frozen = msgspec.structs.replace(EMPTY[0], differentiable=False)
    products = Op("matmul", ("e", "w"), ("y",)), Op("sum", ("y",), ("p",), TOTAL)
    steps = *products, Op("square", ("x",), ("z",)), Op("sum", ("z",), ("q",), TOTAL), Backward((root,))
    promise = Promise(Case((frozen, *EMPTY[1:]), steps, "exact"), INFO)
    assert bucket == judge(promise, refused(promise, "ValueError: Required tensor shall not be nullptr, but received nullptr.")).bucket


def test_an_error_about_slots_is_known_of_what_is_made_of_several_and_not_of_leaves() -> None:
    steps = Op("square", ("x",), ("y",)), Grad(("y",), ("x",), ("g",), ("x",))
    promise = Promise(Case(EMPTY[2:], steps, "exact"), INFO)
    wrong = refused(promise, "SystemError: (Fatal) Invalid slot_id for GradTensorHolder::add() which exceeds size of buffer")
    assert judge(promise, wrong).bucket == Bucket.DIVERGED


@pytest.mark.parametrize(("asked", "bucket"), [("x", Bucket.UNPROMISED), ("w", Bucket.DIVERGED)], ids=["vanishing", "unrelated"])
def test_zeros_are_known_of_a_derivative_that_vanishes_and_not_of_what_is_unrelated(asked: str, bucket: Bucket) -> None:
    derived = Grad(("y",), ("x",), ("g",), ("c",), create_graph=True)
    steps = Op("mul_scalar", ("x",), ("y",), {"other": 3.0}), derived, Grad(("g",), (asked,), ("h",), ("c",), allow_unused=True)
    seed = Input("c", (2,), (1.0, 1.0), differentiable=True)
    promise = Promise(Case((*EMPTY[1:], seed), steps, "exact"), INFO)
    *before, last = promise.outcome.observations
    assert isinstance(last, Computed)
    assert last.values == (None,)
    shape = (2,) if asked == "x" else (2, 2)
    zeros = replace(last, values=(Value(np.zeros(shape, np.float32), requires_grad=False),))
    assert bucket == judge(promise, replace(promise.outcome, observations=[*before, zeros])).bucket


def test_a_batched_derivative_of_anything_but_an_output_in_itself_is_the_promised_one() -> None:
    seeds = Input("s", (2, 2), (1.0, 2.0, 3.0, 4.0), differentiable=False)
    call = Grad(("y",), ("x",), ("g",), ("s",), is_grads_batched=True)
    promise = Promise(Case((EMPTY[2], seeds), (Op("mul_scalar", ("x",), ("y",), {"other": 3.0}), call), "exact"), OF_TORCH)
    *before, last = promise.outcome.observations
    assert isinstance(last, Computed)
    wrong = replace(last, values=(Value(seeds.array(), requires_grad=False),))
    assert judge(promise, replace(promise.outcome, observations=[*before, wrong])).bucket == Bucket.DIVERGED


@pytest.mark.parametrize(
    ("known", "bucket"), [(True, Bucket.KNOWN_DEVIATION), (False, Bucket.DIVERGED)], ids=["promised elsewhere", "nowhere"]
)
def test_elements_that_are_one_hold_a_number_that_is_promised_of_some_of_them(*, known: bool, bucket: Bucket) -> None:
    promise = Promise(read(evidence("torch-scatter-overlapping")), OF_TORCH)
    place = next(i for i, step in enumerate(promise.case.steps) if isinstance(step, Op) and step.op.endswith("_scatter"))
    observations = [*promise.outcome.observations]
    seen = observations[place]
    assert isinstance(seen, Computed)
    assert seen.values[0] is not None
    array = seen.values[0].array.copy()
    other = next(one for one in array.flat if one != array.flat[0])
    array.flat[0] = other if known else array.max() + 1.5
    observations[place] = replace(seen, values=(replace(seen.values[0], array=array),))
    assert bucket == judge(promise, replace(promise.outcome, observations=observations)).bucket
